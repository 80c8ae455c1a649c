import Locks

/// Counts the responses of other nodes that are passed on at this moment. Each of them needs a second socket.
final class RelaySlots: Sendable {
    let limit: Int
    private let taken = Locked(0)

    init(limit: Int) { self.limit = limit }

    /// - Returns: false if all are taken.
    func take() -> Bool {
        taken.withLock { taken in
            guard taken < limit else { return false }
            taken += 1
            return true
        }
    }

    func giveBack() { taken.withLock { $0 -= 1 } }
}
