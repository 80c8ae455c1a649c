import Base
import Glibc
import HTTPServer
import HTTPTypes
import Testing

/// The decision of a `TestHandler` about a head.
enum TestAdmission {
    case accept(maxBodyBytes: Int? = nil, sink: (any BodySink)? = nil)
    case refuse(Response)
}

/// A handler that consists of closures.
struct TestHandler: RequestHandler {
    var admitting: @Sendable (RequestHead) -> TestAdmission = { _ in .accept() }
    var responding: @Sendable (Request) -> Answer

    init(_ responding: @escaping @Sendable (Request) -> Answer) {
        self.responding = responding
    }

    /// Responds to every request with its own method, target and body.
    static var echo: TestHandler {
        TestHandler { request in
            .now(Response(text: "\(request.head.method) \(request.head.target) ", request.body))
        }
    }

    func admit(_ head: RequestHead) -> RouteDecision {
        switch admitting(head) {
        case .accept(let limit, let sink): .accept(maxBodyBytes: limit, sink: sink, respond: responding)
        case .refuse(let response): .refuse(response)
        }
    }
    func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response {
        let body = Array(fault.description.utf8)
        return Response(status: fault.status, headers: [.contentType: "text/fault"], body: .bytes(body))
    }
}

extension Response {
    init(_ status: HTTPResponse.Status = .ok, text: String, _ more: [UInt8] = []) {
        self.init(status: status, body: .bytes(Array(text.utf8) + more))
    }
}

/// Runs a server while blocking client code runs, and then stops it.
func withServer<Result: Sendable>(
    _ handler: TestHandler, configure: (inout HTTPServer.Options) -> Void = { _ in },
    _ body: @escaping @Sendable (UInt16) throws -> Result
) async throws -> Result {
    var options = HTTPServer.Options()
    options.threads = 2
    // Only a test of the deadline may reach it, also if its client gets no processor time for long.
    options.headDeadline = .seconds(60)
    configure(&options)
    let server = try HTTPServer(options: options, handler: handler)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await onThread { try body(server.port) }) } catch { result = .failure(error) }
    await server.stop(grace: .seconds(5))
    return try result.get()
}

/// Runs blocking code on a separate thread. On a thread of Swift tasks it would block the tasks whose results it waits
/// for.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let failure = DetachedThread.start(named: "test client") {
            continuation.resume(with: Swift.Result { try body() })
        }
        precondition(failure == 0, "pthread_create: \(failure)")
    }
}

/// Expects a condition to become true within a minute.
func expectSoon(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    let end = ContinuousClock.now + .seconds(60)
    while true {
        if condition() { return }
        guard .now < end else { break }
        usleep(5_000)
    }
    Issue.record("did not come true", sourceLocation: sourceLocation)
}

/// A value that tests and handlers share.
final class Shared<Value>: @unchecked Sendable {
    private var stored: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init(_ value: Value) {
        stored = value
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    var value: Value { change { $0 } }

    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&stored)
    }
}
