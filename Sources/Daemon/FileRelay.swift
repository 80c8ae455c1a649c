import API
import Base
import CurlClient
import Foundation
import HTTPServer
import HTTPTypes

/// Requests files from other servers with libcurl: from other services of the database, and from buckets.
public struct CurlFileRelay: Sendable {
    private let client: CurlClient
    private let slots: RelaySlots

    /// - Parameter limit: the largest number of responses that are passed on at the same time. A further request is refused.
    public init(_ client: CurlClient, limit: Int = .max) {
        self.client = client
        slots = RelaySlots(limit: limit)
    }

    public func response(
        to method: HTTPRequest.Method, url: String, headers: [(name: String, value: String)]
    ) async throws(FileRelayError) -> Response {
        var request = TransferRequest(url: url, method: method.rawValue, headers: headers)
        // Administrators name these servers; the rules of downloads are for the URLs of clients.
        request.admitsAnyAddress = true
        // As much as the body of the response holds: both wait for the reader.
        request.windowBytes = RelayedResponse.bufferLimit
        request.timeouts = .init(connect: .seconds(5), idle: .seconds(60))
        guard slots.take() else {
            throw FileRelayError("fetchd already passes on \(slots.limit) files, as many as it can")
        }
        let relayed = RelayedResponse(isBodyWanted: method != .head, onEnd: slots.giveBack)
        let transfer = client.start(request, handler: relayed)
        relayed.cancels { transfer.cancel() }
        return try await relayed.response.get()
    }
}

/// Counts the responses that are passed on at this moment. Each of them needs a second socket.
private final class RelaySlots: Sendable {
    let limit: Int
    private let taken = Locked(0)

    init(limit: Int) { self.limit = limit }

    /// - Returns: false if all are taken.
    func take() -> Bool {
        taken.withLock { taken in
            guard taken < limit else { return false }
            taken += 1
            return true
        }
    }

    func giveBack() { taken.withLock { $0 -= 1 } }
}

/// The response of another server, as it arrives. Its body goes to a stream at the speed of the reader: the bytes that wait for
/// the reader fill the window of the transfer.
private final class RelayedResponse: TransferHandler {
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
        self.isBodyWanted = isBodyWanted
        self.onEnd = onEnd
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

    func received(head: ResponseHead) -> HeadDecision {
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
