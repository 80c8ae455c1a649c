import Synchronization

/// Whether the service accepts requests: after recovery, and until it stops. At other times requests get 503, because a
/// job that a crash left running must not be changed before it is queued again.
public final class Readiness: Sendable {
    private enum Stage: UInt8, AtomicRepresentable {
        case starting, ready, stopping
    }

    private let stage = Atomic(Stage.starting)

    public init() {}

    /// Has no effect after `close()`.
    public func open() {
        _ = stage.compareExchange(expected: .starting, desired: .ready, ordering: .acquiringAndReleasing)
    }

    public func close() { stage.store(.stopping, ordering: .releasing) }

    func check() throws(Problem) {
        guard stage.load(ordering: .acquiring) == .ready else {
            var problem = Problem(.unavailable, "fetchd is starting or stopping. Try again in a second.")
            problem.headers[.retryAfter] = "1"
            throw problem
        }
    }
}
