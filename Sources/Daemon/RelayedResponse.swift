import API
import CurlClient
import HTTPServer
import HTTPTypes
import Locks

/// The response of another node, as it arrives. Its body goes to a stream at the speed of the reader: the bytes that wait for
/// the reader fill the window of the transfer.
final class RelayedResponse: TransferHandler {
    typealias Outcome = Result<Response, FileRelayError>

    private struct State {
        var outcome: Outcome?
        var waiter: CheckedContinuation<Outcome, Never>?
        var cancel: (@Sendable () -> Void)?
        var isOver = false
    }

    private let isBodyWanted: Bool
    private let onEnd: @Sendable () -> Void
    private let state = Locked(State())
    private let chunks = AsyncStream<Chunk>.makeStream()

    /// - Parameter onEnd: called once, when the transfer has ended.
    init(isBodyWanted: Bool, onEnd: @escaping @Sendable () -> Void) {
        (self.isBodyWanted, self.onEnd) = (isBodyWanted, onEnd)
    }

    /// - Parameter cancel: ends the transfer.
    func cancels(_ cancel: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            state.cancel = cancel
            return state.isOver
        }
        if isOver { cancel() }
    }

    var response: Outcome {
        get async {
            await withCheckedContinuation { waiter in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.waiter = waiter }
                    return state.outcome
                }
                if let outcome { waiter.resume(returning: outcome) }
            }
        }
    }

    func received(head: ResponseHead) -> HeadVerdict {
        var response = Response(status: .init(code: head.status))
        for (name, value) in head.headers {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        guard head.status != 304 else {
            settle(.success(response))
            return .accept
        }
        guard let length = head.contentLength else {
            settle(.failure(FileRelayError("its response has no length")))
            return .reject
        }
        let stream = ResponseStream(length: length, bufferLimit: Self.bufferLimit)
        response.body = .stream(stream)
        if isBodyWanted { pass(to: stream) }
        settle(.success(response))
        return .accept
    }

    func received(chunk: Chunk) { chunks.continuation.yield(chunk) }

    func finished(_ result: TransferResult) {
        onEnd()
        chunks.continuation.finish()
        guard case .failed(let error) = result.outcome else {
            return settle(.failure(FileRelayError("the request was cancelled")))
        }
        settle(.failure(FileRelayError("\(error)")))
    }

    /// Only the first outcome counts.
    private func settle(_ outcome: Outcome) {
        let waiter = state.withLock { state in
            guard state.outcome == nil else { return nil as CheckedContinuation<Outcome, Never>? }
            state.outcome = outcome
            return state.waiter.take()
        }
        waiter?.resume(returning: outcome)
    }

    /// Bytes that wait for the reader, here and in the window of the transfer.
    static let bufferLimit = 256 << 10
    private static let pieceBytes = 64 << 10

    /// If the transfer or the reader ends early, the stream ends before its length, and the server closes the connection, so
    /// that the reader detects the missing bytes.
    private func pass(to stream: ResponseStream) {
        Task { [chunks = chunks.stream] in
            defer { stream.finish() }
            for await chunk in chunks {
                guard await Self.send(chunk, to: stream) else { return self.end() }
            }
        }
    }

    private static func send(_ chunk: Chunk, to stream: ResponseStream) async -> Bool {
        for start in stride(from: 0, to: chunk.count, by: pieceBytes) {
            let piece = chunk.withUnsafeBytes { Array($0[start..<min(start + pieceBytes, $0.count)]) }
            guard await stream.room(for: piece.count), stream.write(piece) else { return false }
        }
        return true
    }

    private func end() {
        let cancel = state.withLock { state in
            state.isOver = true
            return state.cancel
        }
        cancel?()
    }
}
