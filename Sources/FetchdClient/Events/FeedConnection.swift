import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One connection of a `Feed`. Releasing it closes the connection.
struct FeedConnection {
    private let stream: ByteStream
    private var chunks: AsyncThrowingStream<ByteStream.Chunk, any Error>.Iterator
    private var parser = EventStreamParser()
    private var ready: ArraySlice<ServerSentEvent> = []

    /// - Throws: the refusal of the service, or `unreachable`.
    init(_ request: URLRequest, isolation actor: isolated (any Actor)?) async throws(FetchdError) {
        let (stream, chunks) = ByteStream.open(request)
        self.stream = stream
        self.chunks = chunks.makeAsyncIterator()
        guard case .head(let status) = try await chunk(isolation: actor) else { throw .unreachable("no answer") }
        guard status == 200 else { throw await refusal(status, isolation: actor) }
    }

    /// nil at the end of the stream.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(FetchdError) -> ServerSentEvent? {
        while true {
            if let event = ready.popFirst() { return event }
            switch try await chunk(isolation: actor) {
            case nil: return nil
            case .head: continue
            case .bytes(let bytes): ready = try parser.read(bytes)[...]
            }
        }
    }

    private mutating func chunk(
        isolation actor: isolated (any Actor)?
    ) async throws(FetchdError) -> ByteStream.Chunk? {
        do {
            let chunk = try await chunks.next(isolation: actor)
            if case .bytes(let bytes) = chunk { stream.took(bytes.count) }
            guard chunk != nil || !Task.isCancelled else { throw FetchdError.cancelled }
            return chunk
        } catch {
            let failure = Transport.failure(error)
            // A connection that this client closed, because its reader was slow, is opened again.
            throw failure == .cancelled && !Task.isCancelled ? .unreachable("the stream was closed") : failure
        }
    }

    private mutating func refusal(
        _ status: Int, isolation actor: isolated (any Actor)?
    ) async -> FetchdError {
        var body = Data()
        while let chunk = try? await chunk(isolation: actor) {
            if case .bytes(let bytes) = chunk { body += bytes }
        }
        return Answer(status: status, entityTag: nil, body: body).refusal
    }
}
