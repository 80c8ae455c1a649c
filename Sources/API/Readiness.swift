import Synchronization

/// Whether the service accepts requests: after recovery, and until it stops. At other times requests get 503, because a
/// job that a crash left running must not be changed before it is queued again.
public final class Readiness: Sendable {
    private enum Stage: UInt8, AtomicRepresentable {
        case starting, ready
        /// The service still answers, so that a load balancer can send requests elsewhere before it stops.
        case leaving
        case stopping
    }

    private let stage = Atomic(Stage.starting)

    public init() {}

    /// Has no effect after `close()`.
    public func open() {
        _ = stage.compareExchange(expected: .starting, desired: .ready, ordering: .acquiringAndReleasing)
    }

    /// Announces the stop. Has an effect only while the service is ready.
    ///
    /// - Returns: whether it has.
    public func leave() -> Bool {
        stage.compareExchange(expected: .ready, desired: .leaving, ordering: .acquiringAndReleasing).exchanged
    }

    public func close() { stage.store(.stopping, ordering: .releasing) }

    /// For requests.
    func check() throws(Problem) {
        switch stage.load(ordering: .acquiring) {
        case .ready, .leaving: return
        case .starting, .stopping: throw Self.problem("fetchd is starting or stopping. Try again in a second.")
        }
    }

    /// For `/readyz`, which a load balancer asks.
    func checkForBalancer() throws(Problem) {
        try check()
        guard stage.load(ordering: .acquiring) == .leaving else { return }
        throw Self.problem("fetchd stops soon, and answers until then. Send new requests to another service.")
    }

    private static func problem(_ text: String) -> Problem {
        var problem = Problem(.unavailable, text)
        problem.headers[.retryAfter] = "1"
        return problem
    }
}
