import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with `URLSession`. One attempt each: callers decide what to repeat.
struct Transport: Sendable {
    private let session = URLSession(configuration: .ephemeral)

    func answer(to request: URLRequest) async throws(FetchdError) -> ServiceResponse {
        try await response { continuation in
            session.dataTask(with: request) { body, response, error in
                continuation.resume(with: Result { try Self.answer(body, of: response, error: error) })
            }
        }
    }

    private static func answer(_ body: Data?, of response: URLResponse?, error: (any Error)?) throws -> ServiceResponse
    {
        if let error { throw error }
        guard let head = response as? HTTPURLResponse else { throw FetchdError.unexpectedAnswer("no HTTP") }
        return ServiceResponse(
            status: head.statusCode, entityTag: head.value(forHTTPHeaderField: "ETag"), body: body ?? Data())
    }

    /// Stores the body of a 200 as a file, which appears when it is complete. The answer has no body then.
    func download(_ request: URLRequest, to file: URL) async throws(FetchdError) -> ServiceResponse {
        try await response { continuation in
            // The temporary file exists only until the handler returns.
            session.downloadTask(with: request) { location, response, error in
                continuation.resume(with: Result { try Self.keep(location, of: response, error: error, as: file) })
            }
        }
    }

    private func response(
        _ makeTask: (CheckedContinuation<ServiceResponse, any Error>) -> URLSessionTask
    ) async throws(FetchdError) -> ServiceResponse {
        do {
            // A cancelled Swift task does not cancel the request: see `ByteStream`. Requests are short.
            return try await withCheckedThrowingContinuation { makeTask($0).resume() }
        } catch {
            throw Self.failure(error)
        }
    }

    private static func keep(
        _ location: URL?, of response: URLResponse?, error: (any Error)?, as file: URL
    ) throws -> ServiceResponse {
        if let error { throw error }
        guard let location, let head = response as? HTTPURLResponse else {
            throw FetchdError.unexpectedAnswer("no HTTP")
        }
        guard head.statusCode == 200 else {
            return ServiceResponse(status: head.statusCode, entityTag: nil, body: try Data(contentsOf: location))
        }
        try? FileManager.default.removeItem(at: file)
        do {
            try FileManager.default.moveItem(at: location, to: file)
        } catch {
            throw FetchdError.storage("\(error)")
        }
        return ServiceResponse(status: 200, entityTag: nil, body: Data())
    }

    static func failure(_ error: any Error) -> FetchdError {
        switch error {
        case let error as FetchdError: error
        case is CancellationError, URLError.cancelled: .cancelled
        default: .unreachable(error.localizedDescription)
        }
    }
}

/// The body of an answer while it arrives. It ends the connection when its reader is far behind, because `URLSession`
/// would store everything that arrives in memory.
final class ByteStream: NSObject, URLSessionDataDelegate, Sendable {
    enum Chunk: Sendable {
        case head(status: Int)
        case bytes(Data)
    }

    /// The number of bytes that may wait for the reader.
    static let limit = 8 << 20

    private struct State: Sendable {
        /// The number of bytes that the reader has not taken.
        var backlog = 0
        var hasHead = false
        var isCancelled = false
    }

    private let state = Guarded(State())
    private let output: AsyncThrowingStream<Chunk, any Error>.Continuation

    /// Starts the request. The connection is closed when the iterator is released.
    static func open(_ request: URLRequest) -> (stream: ByteStream, chunks: AsyncThrowingStream<Chunk, any Error>) {
        let (chunks, output) = AsyncThrowingStream.makeStream(of: Chunk.self)
        let stream = ByteStream(output)
        let session = URLSession(configuration: .ephemeral, delegate: stream, delegateQueue: nil)
        let task = session.dataTask(with: request)
        // Foundation on Linux ends the process if a task is cancelled while it ends (swift-corelibs-foundation, issues 3292 and
        // 3296). A connection that is refused ends at once, so nothing is cancelled before the head. The session ends with
        // its task.
        output.onTermination = { [state = stream.state] reason in
            guard case .cancelled = reason else { return }
            let isRunning = state.withLock { state in
                state.isCancelled = true
                return state.hasHead
            }
            if isRunning { task.cancel() }
        }
        task.resume()
        return (stream, chunks)
    }

    private init(_ output: AsyncThrowingStream<Chunk, any Error>.Continuation) { self.output = output }

    /// The reader has taken these bytes.
    func took(_ count: Int) { state.withLock { $0.backlog -= count } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let isCancelled = state.withLock { state in
            state.hasHead = true
            return state.isCancelled
        }
        if isCancelled { dataTask.cancel() }
        output.yield(.head(status: (response as? HTTPURLResponse)?.statusCode ?? 0))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let waiting = state.withLock { state in
            state.backlog += data.count
            return state.backlog
        }
        output.yield(.bytes(data))
        if waiting > Self.limit { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        output.finish(throwing: error)
        session.finishTasksAndInvalidate()
    }
}

/// One block of a stream of server-sent events.
struct ServerSentEvent: Sendable, Equatable {
    var type = "message"
    var data = Data()
}

/// Reads a stream of server-sent events (WHATWG HTML, section 9.2.6) from pieces of any size. The service writes LF.
struct EventStreamParser: Sendable {
    /// The longest line that is accepted. The service's longest events have a few hundred KiB.
    static let longestLine = 16 << 20

    private var line = Data()
    private var type: String?
    private var data: Data?

    /// - Throws: `unexpectedAnswer` after a line without an end.
    mutating func read(_ bytes: Data) throws(FetchdError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0, let event = endOfLine() { events.append(event) }
            line.append(part.element)
        }
        guard line.count <= Self.longestLine else { throw .unexpectedAnswer("a line of the stream is too long") }
        return events
    }

    /// An empty line ends a block.
    private mutating func endOfLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if line.isEmpty { return endOfBlock() }
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : Data()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: parts[0], as: UTF8.self) {
        case "event": type = String(decoding: value, as: UTF8.self)
        case "data":
            if data != nil { data?.append(UInt8(ascii: "\n")) }
            data = (data ?? Data()) + value
        default: break
        }
        return nil
    }

    private mutating func endOfBlock() -> ServerSentEvent? {
        defer {
            type = nil
            data = nil
        }
        guard let data else { return nil }
        return ServerSentEvent(type: type ?? "message", data: data)
    }
}
