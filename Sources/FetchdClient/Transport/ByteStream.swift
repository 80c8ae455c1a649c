import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The body of an answer while it arrives. It ends the connection when its reader is far behind, because `URLSession`
/// would store everything that arrives in memory.
final class ByteStream: NSObject, URLSessionDataDelegate, Sendable {
    enum Chunk: Sendable {
        case head(status: Int)
        case bytes(Data)
    }

    /// Bytes that may wait for the reader.
    static let limit = 8 << 20

    private struct State: Sendable {
        /// Bytes that the reader has not taken.
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
