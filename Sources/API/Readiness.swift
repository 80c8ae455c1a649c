import Synchronization

/// Whether the service has recovered and may be asked. Until then, and once it stops, requests are answered 503: a job
/// that a crash left as running must not be acted on before it is queued again.
public final class Readiness: Sendable {
    private let isReady = Atomic(false)

    public init() {}

    public func open() { isReady.store(true, ordering: .releasing) }
    public func close() { isReady.store(false, ordering: .releasing) }

    func check() throws(Problem) {
        guard isReady.load(ordering: .acquiring) else {
            var problem = Problem(.unavailable, "fetchd is starting or stopping. Try again in a second.")
            problem.headers[.retryAfter] = "1"
            throw problem
        }
    }
}
