import Base
import CEmbeddedFiles
import Engine
import HTTPServer
import HTTPTypes
import Storage
import Synchronization

/// Whether requests can be answered: the service is ready, and this node has its lease. Nothing else of the API asks for the
/// lease.
///
/// The jobs, events and tokens in the memory of a node without its lease can be outdated.
struct Availability: Sendable {
    let readiness: Readiness
    /// nil on SQLite, where a request must not cost a look at the lease.
    private let sharedStore: Store?

    init(_ readiness: Readiness, _ store: Store) {
        self.readiness = readiness
        sharedStore = store.sharesDatabase ? store : nil
    }

    func check() throws(Problem) {
        try readiness.check()
        try checkLease()
    }

    /// - Throws: 503 if this node has no lease, as when the database is away.
    func checkLease() throws(Problem) {
        guard let sharedStore else { return }
        do throws(StoreError) { try sharedStore.requireLease() } catch { throw Problem(error) }
    }

    /// The response to a request that has waited, or 503 if this node has lost its lease during the wait.
    func current(_ response: CachedResponse) -> CachedResponse {
        do throws(Problem) {
            try checkLease()
            return response
        } catch {
            return .response(error.response)
        }
    }

    func current(_ response: Response) -> Response {
        // A stream ends by itself without the lease.
        if case .stream = response.body { return response }
        return current(.response(response)).value
    }
}

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

    /// Announces the stop, if the service is ready. Returns whether it is.
    public func leave() -> Bool {
        stage.compareExchange(expected: .ready, desired: .leaving, ordering: .acquiringAndReleasing).exchanged
    }

    public func close() { stage.store(.stopping, ordering: .releasing) }

    func check() throws(Problem) {
        switch stage.load(ordering: .acquiring) {
        case .ready, .leaving: return
        case .starting, .stopping: throw .unavailable("fetchd is starting or stopping. Try again in a second.")
        }
    }

    /// For `/readyz`, which a load balancer asks.
    func checkForBalancer() throws(Problem) {
        try check()
        guard stage.load(ordering: .acquiring) == .leaving else { return }
        throw .unavailable("fetchd stops soon, and answers until then. Send new requests to another service.")
    }

}

/// Responds to requests while the service cannot open its database yet: to `/livez` with 200, to all others with 503
/// and the reason.
public struct StartupHandler: RequestHandler {
    private let reason: Locked<String>

    public init(reason: String) { self.reason = Locked(reason) }

    public func update(reason: String) { self.reason.withLock { $0 = reason } }

    /// Refuses every request by its head, without reading its body.
    public func admit(_ head: RequestHead) -> RouteDecision { .refuse(answer(to: head)) }

    public func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response { Problem(fault).response }

    private func answer(to head: RequestHead) -> Response {
        if head.path == "/livez" { return .json(["status": "alive"]) }
        return Problem.unavailable("fetchd is not ready. \(reason.withLock { $0 })").response
    }
}

/// Liveness, readiness and the API description. These routes need no token.
struct HealthRoutes: Sendable {
    let store: Store
    let engine: Engine
    let availability: Availability

    var routes: [Route] {
        [
            .constant("/livez", Self.alive), Route(.get, "/readyz", .open, ready),
            .constant("/openapi.yaml", Self.description),
        ]
    }

    private static let alive = StaticResponse(.json(["status": "alive"]))
    private static let description = StaticResponse(
        Response(
            status: .ok, headers: [.contentType: "application/yaml"],
            body: .bytes(embedded_api_description().content)))

    private func ready(_ context: RequestContext) async throws -> Response {
        try availability.readiness.checkForBalancer()
        if let fault = engine.folderFault { throw Problem.unavailable(fault) }
        do {
            try availability.checkLease()
            try await store.check()
            return .json(["status": "ready"])
        } catch {
            throw Problem.unavailable((error as? Problem)?.detail ?? "\(error)")
        }
    }

}
