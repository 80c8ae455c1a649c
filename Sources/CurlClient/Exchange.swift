import Base

/// Requests with small responses, which are returned in memory, for example those of webhooks.
extension CurlClient {
    /// Sends a request and returns the response, with any status. It keeps at most `bodyLimit` bytes of the body. If
    /// the body is longer, the transfer ends and `bodyTruncated` is true.
    ///
    /// If the task is cancelled, the transfer is cancelled, and `cancelled` is thrown.
    ///
    /// - Parameter patience: nil: only a complete body, or one that is longer than the limit, is a response. Otherwise the head is
    ///   enough: `bodyTruncated` is also true if the body breaks off, or does not end within this time.
    public func exchange(
        _ request: TransferRequest, bodyLimit: Int, bodyWithin patience: Duration? = nil
    ) async throws(TransferError) -> ExchangeResponse {
        let transfer = prepare()
        let collector = ResponseCollector(transfer: transfer, bodyLimit: bodyLimit, patience: patience)
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
        var clock: Task<Void, Never>?
        var result: Result<ExchangeResponse, TransferError>?
        var waiting: CheckedContinuation<Result<ExchangeResponse, TransferError>, Never>?
    }

    private let transfer: Transfer
    private let bodyLimit: Int
    private let patience: Duration?
    private let state = Locked(State())

    init(transfer: Transfer, bodyLimit: Int, patience: Duration?) {
        self.transfer = transfer
        self.bodyLimit = bodyLimit
        self.patience = patience
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

    func received(head: ResponseHead) -> HeadDecision {
        guard let patience else { return .accept }
        // The task ends with the transfer.
        let task = Task { [weak self] in
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            self?.endBody()
        }
        state.withLock { $0.clock = task }
        return .accept
    }

    private func endBody() {
        state.withLock { $0.isTruncated = true }
        transfer.cancel()
    }

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
            state.clock?.cancel()
            if patience != nil, case .failed = transferResult.outcome, transferResult.head != nil {
                state.isTruncated = true
            }
            let result = Self.evaluate(transferResult, state)
            state.result = result
            return (result, state.waiting.take())
        }
        waiting?.resume(returning: result)
    }

    private static func evaluate(_ result: TransferResult, _ state: State) -> Result<ExchangeResponse, TransferError> {
        switch result.outcome {
        case .failed(let error) where !state.isTruncated: return .failure(error)
        case .cancelled where !state.isTruncated, .rejected: return .failure(.cancelled)
        case .completed, .cancelled, .failed:
            guard let head = result.head else { return .failure(.protocolError("a body without a head")) }
            return .success(
                ExchangeResponse(
                    status: head.status, headers: head.headers, body: state.body, bodyTruncated: state.isTruncated,
                    metrics: result.metrics, isOfProxy: head.isOfProxy))
        }
    }
}

public struct ExchangeResponse: Sendable {
    public var status: Int
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    public var bodyTruncated: Bool

    public var metrics: TransferMetrics
    /// The proxy itself has answered, and not the server.
    public var isOfProxy = false
}
