import HTTPServer
import HTTPTypes
import Locks

/// Responds to requests while the service cannot open its database yet: to `/livez` with 200, to all others with 503
/// and the reason.
public struct StartupHandler: RequestHandler {
    private let reason: Locked<String>

    /// - Parameter reason: a sentence.
    public init(reason: String) { self.reason = Locked(reason) }

    public func update(reason: String) { self.reason.withLock { $0 = reason } }

    /// Refuses every request by its head, without reading its body.
    public func admit(_ head: RequestHead) -> Admission { .refuse(answer(to: head)) }

    public func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response { Problem(fault).response }

    private func answer(to head: RequestHead) -> Response {
        if head.path == "/livez" { return .json(["status": "alive"]) }
        var problem = Problem(.unavailable, "fetchd is not ready. \(reason.withLock { $0 })")
        problem.headers[.retryAfter] = "1"
        return problem.response
    }
}
