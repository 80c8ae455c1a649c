import CurlClient
import TestKit
import Testing

/// Cancels transfers in each phase, and all of them by a shutdown.
@Suite struct CancellationTests {
    let client: CurlClient
    let origin: Origin

    init() throws {
        client = try CurlClient()
        origin = try Origin()
    }

    @Test func cancelsRightAfterStart() async throws {
        origin.serve("/file", .file([1]))
        let recorder = Recorder()
        client.start(TransferRequest(url: origin.url("/file")), handler: recorder).cancel()
        // The response may have been faster.
        #expect([.cancelled, .completed].contains(try await recorder.result().outcome))
    }

    @Test func cancelsWhileConnecting() async throws {
        let port = try UnresponsivePort()
        let recorder = Recorder()
        let transfer = client.start(TransferRequest(url: "http://127.0.0.1:\(port.number)/"), handler: recorder)
        // A second transfer completes, so the loop has started the first.
        origin.serve("/file", .file([1]))
        _ = try await client.run(origin.url("/file"))
        transfer.cancel()
        let result = try await recorder.result()
        #expect(result.outcome == .cancelled)
        #expect(result.head == nil)
    }

    @Test func cancelsWhileWaitingForTheHead() async throws {
        origin.serve("/file", .file([1]), .silent)
        let recorder = Recorder()
        let transfer = client.start(TransferRequest(url: origin.url("/file")), handler: recorder)
        await origin.waitForRequests("/file")
        transfer.cancel()
        #expect(try await recorder.result().outcome == .cancelled)
        #expect(await origin.waitForSilence())
    }

    @Test func cancelInTheBodyDeliversReceivedBytes() async throws {
        let bytes = Content.random(seed: 13, count: 1_000_000)
        origin.serve("/file", .file(bytes), .stalling(after: 700_000))
        let recorder = Recorder()
        let transfer = client.start(TransferRequest(url: origin.url("/file")), handler: recorder)
        #expect(await recorder.received(atLeast: 500_000))
        transfer.cancel()
        let result = try await recorder.result()
        #expect(result.outcome == .cancelled)
        #expect(result.head?.status == 200)
        #expect(Int(result.bytesReceived) == recorder.body.count)
        #expect(recorder.body == Array(bytes.prefix(recorder.body.count)))
        #expect(recorder.state.current.violations.isEmpty)
        #expect(await origin.waitForSilence())
    }

    @Test func cancelsAPausedTransfer() async throws {
        origin.serve("/file", .file(Content.random(seed: 14, count: 20_000_000)))
        let recorder = Recorder(holdingChunks: true)
        let transfer = client.start(TransferRequest(url: origin.url("/file")), handler: recorder)
        #expect(await recorder.received(atLeast: almostAWindow))
        transfer.cancel()
        #expect(try await recorder.result().outcome == .cancelled)
        // A late release has no effect.
        recorder.releaseChunks()
        #expect(await origin.waitForSilence())
    }

    @Test func cancelAfterTheEndHasNoEffect() async throws {
        origin.serve("/file", .file([1]))
        let recorder = Recorder()
        let transfer = client.start(TransferRequest(url: origin.url("/file")), handler: recorder)
        _ = try await recorder.result()
        transfer.cancel()
        transfer.cancel()
        let (result, _) = try await client.run(origin.url("/file"))
        #expect(result.outcome == .completed)
        #expect(recorder.state.current.results.count == 1)
    }

    @Test func handlerCanCancelItsTransfer() async throws {
        origin.serve("/file", .file(Content.random(seed: 15, count: 20_000_000)))
        let handler = CancellingHandler()
        let transfer = client.start(TransferRequest(url: origin.url("/file")), handler: handler)
        handler.transfer.withLock { $0 = transfer }
        #expect(await handler.outcome.wait { $0 != nil })
        #expect(handler.outcome.current == .cancelled)
    }

    @Test func shutdownCancelsAllTransfers() async throws {
        origin.serve("/stall", .file(Content.random(seed: 16, count: 1_000)), .stalling(after: 500))
        origin.serve("/silent", .file([1]), .silent)
        let recorders = (0..<20).map { _ in Recorder() }
        for (index, recorder) in recorders.enumerated() {
            client.start(TransferRequest(url: origin.url(index % 2 == 0 ? "/stall" : "/silent")), handler: recorder)
        }
        await origin.waitForRequests("/stall", count: 10)
        await origin.waitForRequests("/silent", count: 10)
        await client.shutdown()
        // No wait is needed: `shutdown` returns after the last `finished`.
        for recorder in recorders {
            #expect(recorder.state.current.results.map(\.outcome) == [.cancelled])
        }
        #expect(await origin.waitForSilence())
        await client.shutdown()
    }

    @Test func startAfterShutdownIsCancelled() async throws {
        await client.shutdown()
        let (result, _) = try await client.run(origin.url("/file"))
        #expect(result.outcome == .cancelled)
        #expect(origin.requests.isEmpty)
    }

    @Test func releasingTheClientCancelsTransfers() async throws {
        origin.serve("/silent", .file([1]), .silent)
        let recorder = Recorder()
        do {
            let shortLived = try CurlClient()
            shortLived.start(TransferRequest(url: origin.url("/silent")), handler: recorder)
            await origin.waitForRequests("/silent")
        }
        #expect(try await recorder.result().outcome == .cancelled)
    }
}

/// Cancels its own transfer at the first chunk.
private final class CancellingHandler: TransferHandler {
    let transfer = Monitor(Transfer?.none)
    let outcome = Monitor(TransferResult.Outcome?.none)

    func received(head: ResponseHead) -> HeadDecision { .accept }
    func received(chunk: Chunk) { transfer.current?.cancel() }
    func finished(_ result: TransferResult) { outcome.withLock { $0 = result.outcome } }
}
