import CurlClient

/// A response that is read as it comes: its head, then its bytes. What is not read yet waits in the transfer's window, so
/// that a slow reader slows down the service, and nothing piles up.
struct BodyStream: Sendable {
    enum Piece: Sendable {
        case head(ResponseHead)
        case chunk(Chunk)
    }

    /// Begins the request. Who stops reading, or is cancelled, ends it.
    static func open(_ request: TransferRequest, with curl: CurlClient) -> AsyncThrowingStream<Piece, any Error> {
        AsyncThrowingStream { continuation in
            let transfer = curl.start(request, handler: Handler(continuation))
            continuation.onTermination = { _ in transfer.cancel() }
        }
    }

    private final class Handler: TransferHandler {
        private let continuation: AsyncThrowingStream<Piece, any Error>.Continuation

        init(_ continuation: AsyncThrowingStream<Piece, any Error>.Continuation) {
            self.continuation = continuation
        }

        func received(head: ResponseHead) -> HeadVerdict {
            continuation.yield(.head(head))
            return .accept
        }

        func received(chunk: Chunk) { continuation.yield(.chunk(chunk)) }

        func finished(_ result: TransferResult) {
            switch result.outcome {
            case .completed: continuation.finish()
            case .failed(let error): continuation.finish(throwing: error)
            case .cancelled, .rejected: continuation.finish(throwing: TransferError.cancelled)
            }
        }
    }
}

extension Chunk {
    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
