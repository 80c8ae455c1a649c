import TestKit

@testable import CurlClient

/// A handler that records all calls, and that a test can wait for.
final class Recorder: TransferHandler {
    struct State: Sendable {
        var heads: [ResponseHead] = []
        var body: [UInt8] = []
        var chunkSizes: [Int] = []
        /// The addresses of the chunks, modulo the size of a page.
        var chunkPlaces: [Int] = []
        /// Chunks that are held while `isHolding` is true.
        var held: [Chunk] = []
        var isHolding: Bool
        var results: [TransferResult] = []
        /// Calls in an order that the protocol forbids.
        var violations: [String] = []
    }

    let state: Monitor<State>
    private let judge: @Sendable (ResponseHead) -> HeadDecision

    init(holdingChunks: Bool = false, judge: @escaping @Sendable (ResponseHead) -> HeadDecision = { _ in .accept }) {
        state = Monitor(State(isHolding: holdingChunks))
        self.judge = judge
    }

    func received(head: ResponseHead) -> HeadDecision {
        state.withLock { state in
            if !state.heads.isEmpty || !state.results.isEmpty { state.violations.append("a second head") }
            state.heads.append(head)
        }
        return judge(head)
    }

    func received(chunk: Chunk) {
        state.withLock { state in
            if state.heads.isEmpty || !state.results.isEmpty { state.violations.append("a chunk out of order") }
            chunk.withUnsafeBytes { bytes in
                state.body.append(contentsOf: bytes)
                state.chunkPlaces.append(Int(bitPattern: bytes.baseAddress) % 4096)
            }
            state.chunkSizes.append(chunk.count)
            if state.isHolding { state.held.append(chunk) }
        }
    }

    func finished(_ result: TransferResult) {
        state.withLock { state in
            if !state.results.isEmpty { state.violations.append("a second end") }
            state.results.append(result)
        }
    }

    /// Releases all chunks, and holds none from now on.
    func releaseChunks() {
        // Outside the lock, because the last release calls into the client.
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        _ = consume held
    }

    var body: [UInt8] { state.current.body }
    var head: ResponseHead? { state.current.heads.first }

    /// Waits for the result.
    func result(atMost timeout: Duration = .patience) async throws -> TransferResult {
        _ = await state.wait(atMost: timeout) { !$0.results.isEmpty }
        guard let result = state.current.results.first else { throw NeverFinished() }
        return result
    }

    func received(atLeast count: Int) async -> Bool {
        await state.wait { $0.body.count >= count }
    }

    struct NeverFinished: Error {}
}

extension CurlClient {
    /// Runs a transfer until its end.
    func run(_ request: TransferRequest, _ recorder: Recorder = Recorder()) async throws -> (TransferResult, Recorder) {
        start(request, handler: recorder)
        return (try await recorder.result(), recorder)
    }

    func run(_ url: String) async throws -> (TransferResult, Recorder) {
        try await run(TransferRequest(url: url))
    }
}

/// The least number of bytes that a handler receives before its transfer is paused, if it releases nothing: the default
/// window without one read of libcurl.
let almostAWindow = CurlClient.Options().windowBytes - Window.largestRead

extension TransferResult {
    var error: TransferError? {
        guard case .failed(let error) = outcome else { return nil }
        return error
    }
}
