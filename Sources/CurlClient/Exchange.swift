import Base

/// Requests with small responses, which are returned in memory, for example those of webhooks.
extension CurlClient {
    /// Sends a request and returns the response, with any status. It keeps at most `bodyLimit` bytes of the body. If
    /// the body is longer, the transfer ends and `bodyTruncated` is true.
    ///
    /// If the task is cancelled, the transfer is cancelled, and `cancelled` is thrown.
    public func exchange(
        _ request: TransferRequest, bodyLimit: Int
    ) async throws(TransferError) -> ExchangeResponse {
        let transfer = prepare()
        let collector = ResponseCollector(transfer: transfer, bodyLimit: bodyLimit)
        submit(transfer, request, handler: collector)
        return try await withTaskCancellationHandler {
            await collector.result
        } onCancel: {
            transfer.cancel()
        }.get()
    }
}

private final class ResponseCollector: TransferHandler {
    private struct State {
        var body: [UInt8] = []
        var isTruncated = false
        var result: Result<ExchangeResponse, TransferError>?
        var waiting: CheckedContinuation<Result<ExchangeResponse, TransferError>, Never>?
    }

    private let transfer: Transfer
    private let bodyLimit: Int
    private let state = Locked(State())

    init(transfer: Transfer, bodyLimit: Int) {
        self.transfer = transfer
        self.bodyLimit = bodyLimit
    }

    var result: Result<ExchangeResponse, TransferError> {
        get async {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.waiting = continuation }
                    return state.result
                }
                if let result { continuation.resume(returning: result) }
            }
        }
    }

    func received(head: ResponseHead) -> HeadDecision { .accept }

    func received(chunk: Chunk) {
        let isTruncated = state.withLock { state in
            let room = bodyLimit - state.body.count
            chunk.withUnsafeBytes { state.body.append(contentsOf: $0.prefix(room)) }
            state.isTruncated = state.isTruncated || chunk.count > room
            return state.isTruncated
        }
        if isTruncated { transfer.cancel() }
    }

    func finished(_ transferResult: TransferResult) {
        let (result, waiting) = state.withLock { state in
            let result = Self.evaluate(transferResult, state)
            state.result = result
            return (result, state.waiting.take())
        }
        waiting?.resume(returning: result)
    }

    private static func evaluate(
        _ result: TransferResult, _ state: State
    ) -> Result<ExchangeResponse, TransferError> {
        switch result.outcome {
        case .failed(let error) where !state.isTruncated: return .failure(error)
        case .cancelled where !state.isTruncated, .rejected: return .failure(.cancelled)
        case .completed, .cancelled, .failed:
            guard let head = result.head else { return .failure(.protocolError("a body without a head")) }
            return .success(
                ExchangeResponse(
                    status: head.status, headers: head.headers, body: state.body, bodyTruncated: state.isTruncated,
                    metrics: result.metrics))
        }
    }
}

public struct ExchangeResponse: Sendable {
    public var status: Int
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    public var bodyTruncated: Bool

    public var metrics: TransferMetrics
}
