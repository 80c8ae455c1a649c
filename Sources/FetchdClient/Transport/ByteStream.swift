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

    private let backlog = Guarded(0)
    private let output: AsyncThrowingStream<Chunk, any Error>.Continuation

    /// Starts the request. The connection is closed when the iterator is released.
    static func open(_ request: URLRequest) -> (stream: ByteStream, chunks: AsyncThrowingStream<Chunk, any Error>) {
        let (chunks, output) = AsyncThrowingStream.makeStream(of: Chunk.self)
        let stream = ByteStream(output)
        let session = URLSession(configuration: .ephemeral, delegate: stream, delegateQueue: nil)
        let task = session.dataTask(with: request)
        output.onTermination = { _ in
            task.cancel()
            session.invalidateAndCancel()
        }
        task.resume()
        return (stream, chunks)
    }

    private init(_ output: AsyncThrowingStream<Chunk, any Error>.Continuation) { self.output = output }

    /// The reader has taken these bytes.
    func took(_ count: Int) { backlog.withLock { $0 -= count } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        output.yield(.head(status: (response as? HTTPURLResponse)?.statusCode ?? 0))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let waiting = backlog.withLock { backlog in
            backlog += data.count
            return backlog
        }
        output.yield(.bytes(data))
        if waiting > Self.limit { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        output.finish(throwing: error)
        session.finishTasksAndInvalidate()
    }
}
