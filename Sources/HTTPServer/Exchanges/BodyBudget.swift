import Synchronization

/// The memory that the request bodies of all connections may take together.
///
/// One body is limited by its admission. Without a common limit, a few dozen clients that send large bodies slowly would
/// exhaust the memory of the process.
final class BodyBudget: Sendable {
    /// Bytes of each body that the budget does not count. So small requests are served while large bodies use all of it.
    static let freeBytes = 16 << 10

    private let available: Atomic<Int>

    /// - Parameter bytes: the size of the budget, 0 or more.
    init(bytes: Int) { available = Atomic(bytes) }

    /// Whether a body of this length fits now. Another body may take the memory before this one arrives.
    func hasRoom(forBodyOf length: Int) -> Bool {
        length - Self.freeBytes <= max(0, available.load(ordering: .relaxed))
    }

    /// Takes the bytes for a body that grows from one length to another.
    ///
    /// - Returns: false if the budget is exhausted. Nothing is taken then.
    func grow(from old: Int, to new: Int) -> Bool {
        let bytes = Self.counted(new) - Self.counted(old)
        guard bytes > 0 else { return true }
        guard available.subtract(bytes, ordering: .relaxed).newValue >= 0 else {
            available.add(bytes, ordering: .relaxed)
            return false
        }
        return true
    }

    /// Returns the bytes of a body of this length.
    func giveBack(bodyOf length: Int) {
        let bytes = Self.counted(length)
        if bytes > 0 { available.add(bytes, ordering: .relaxed) }
    }

    private static func counted(_ length: Int) -> Int { max(0, length - freeBytes) }
}
