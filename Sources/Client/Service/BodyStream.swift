import CurlClient

/// A response as a stream: its head, then its bytes. Unread bytes stay in the window of the transfer, so a slow reader slows
/// down the service, and memory stays bounded.
struct BodyStream: Sendable {
    enum Piece: Sendable {
        case head(ResponseHead)
        case chunk(Chunk)
    }

    /// Starts the request. It ends when the reader stops or its task is cancelled.
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
