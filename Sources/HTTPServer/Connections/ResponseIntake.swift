/// Judges whether a client takes its response, from the send queue of the socket at intervals.
///
/// The time limit of the library begins again with every byte that the client takes, so a client could hold a response
/// for days.
struct ResponseIntake {
    typealias Instant = ContinuousClock.Instant

    /// When bytes were first seen to wait, or had last advanced enough.
    private var mark: (taken: UInt64, at: Instant)?
    private var nextLook: Instant?

    /// Whether it is time to look at the queue. A look is a system call.
    func isDue(at now: Instant) -> Bool { nextLook.map { $0 <= now } ?? true }

    /// - Parameters:
    ///   - queue: nil if the socket has no such numbers.
    ///   - bytes: the number of bytes that the client must take within the window, at least 1.
    /// - Returns: whether bytes have waited for all of the window, and the client has taken fewer than `bytes`.
    mutating func isStalled(_ queue: SendQueue?, at now: Instant, over window: Duration, atLeast bytes: Int) -> Bool {
        nextLook = now + window / 8
        guard let queue, queue.isWaiting else {
            mark = nil
            return false
        }
        guard let mark else {
            self.mark = (queue.taken, now)
            return false
        }
        guard mark.at + window <= now else { return false }
        self.mark = (queue.taken, now)
        return queue.taken &- mark.taken < UInt64(bytes)
    }
}
