/// Tells a thread that waits for peers when it must not judge them, because it was late itself.
///
/// A time limit for a peer also measures the thread that reads from the peer. After a pause of the process, of the machine
/// or of its processors, every limit can have passed, while the bytes of the peers wait to be read or are still on their
/// way. So a thread that began a turn late judges no peer for `length`.
///
/// A grace does not begin during another one, or for `length` after it. So a thread that is always late judges its peers
/// at least half of the time.
public struct LatenessGrace: Sendable {
    public typealias Instant = ContinuousClock.Instant

    /// A turn that begins later than planned by more than this is late.
    public static let tolerance = Duration.seconds(1)
    /// The time for the bytes of the peers to arrive, also by a retransmission.
    public static let length = Duration.seconds(5)

    private var lastEnd: Instant?

    public init() {}

    /// The thread begins a turn.
    ///
    /// - Parameter planned: the latest time at which the turn was to begin.
    public mutating func beganTurn(at now: Instant, planned: Instant) {
        guard now - planned > Self.tolerance else { return }
        if let lastEnd, now < lastEnd + Self.length { return }
        lastEnd = now + Self.length
    }

    /// The end of the grace that applies at `now`; nil if peers may be judged.
    public func end(at now: Instant) -> Instant? {
        lastEnd.flatMap { now < $0 ? $0 : nil }
    }
}
