import CurlClient
import TestKit
import Testing

/// Chunks and back-pressure.
@Suite struct ChunkTests {
    let origin: Origin

    init() throws {
        origin = try Origin()
    }

    private func client(
        chunk: Int, window: Int = 1 << 20, held: Int = .max, flush: Duration = .seconds(60)
    ) throws -> CurlClient {
        var options = CurlClient.Options()
        options.chunkBytes = chunk
        options.windowBytes = window
        options.maxHeldBytes = held
        options.flushInterval = flush
        return try CurlClient(options: options)
    }

    @Test(arguments: [1_000, 100_000, 262_144])
    func chunksAreFullExceptTheFirstAndTheLast(chunkBytes: Int) async throws {
        let bytes = Content.random(seed: 7, count: 1_000_001)
        origin.serve("/file", .file(bytes))
        let (_, recorder) = try await client(chunk: chunkBytes).run(origin.url("/file"))
        let sizes = recorder.state.current.chunkSizes
        #expect(sizes.first == min(chunkBytes, 32_768))
        #expect(sizes.dropFirst().dropLast().allSatisfy { $0 == chunkBytes })
        #expect(sizes.reduce(0, +) == bytes.count)
        #expect(recorder.body == bytes)
    }

    @Test func unfinishedChunkIsDeliveredAfterTheFlushInterval() async throws {
        let gate = Gate()
        origin.serve("/file", .file([1, 2, 3, 4]), .waiting(at: 3, for: gate))
        let recorder = Recorder()
        let client = try client(chunk: 1_000, flush: .milliseconds(20))
        client.start(TransferRequest(url: origin.url("/file")), handler: recorder)
        #expect(await recorder.received(atLeast: 3))
        #expect(recorder.state.current.results.isEmpty)
        gate.open()
        #expect(try await recorder.result().outcome == .completed)
        #expect(recorder.state.current.chunkSizes == [3, 1])
    }

    @Test func theOldestUnfinishedChunkIsDeliveredWhenThereAreTooMany() async throws {
        let gate = Gate()
        origin.serve("/file", .file([1, 2, 3, 4]), .waiting(at: 3, for: gate))
        var options = CurlClient.Options()
        options.flushInterval = .seconds(60)
        options.maxUnfinishedChunks = 1
        let client = try CurlClient(options: options)
        let (first, second) = (Recorder(), Recorder())
        client.start(TransferRequest(url: origin.url("/file")), handler: first)
        client.start(TransferRequest(url: origin.url("/file")), handler: second)
        // One of both began its chunk first.
        _ = try await eventually("one chunk") { first.body.count + second.body.count == 3 ? true : nil }
        gate.open()
        #expect(try await first.result().outcome == .completed)
        #expect(try await second.result().outcome == .completed)
    }

    @Test func chunksKeepTheAlignmentOfTheBody() async throws {
        let gate = Gate()
        let bytes = Content.random(seed: 11, count: 300_000)
        origin.serve("/file", .file(bytes), .waiting(at: 40_001, for: gate))
        let recorder = Recorder()
        let client = try client(chunk: 65_536, flush: .seconds(1))
        client.start(TransferRequest(url: origin.url("/file")), handler: recorder)
        // The second chunk is unfinished when the body stops, so the third begins within a page.
        #expect(await recorder.received(atLeast: 40_001))
        gate.open()
        #expect(try await recorder.result().outcome == .completed)
        #expect(recorder.body == bytes)
        var offset = 0
        for (size, place) in zip(recorder.state.current.chunkSizes, recorder.state.current.chunkPlaces) {
            #expect(place == offset % 4096)
            offset += size
        }
        #expect(recorder.state.current.chunkSizes.prefix(2) == [32_768, 7_233])
    }

    @Test func unfinishedChunkOfAFailedTransferIsDelivered() async throws {
        origin.serve("/file", .file(Content.random(seed: 8, count: 1_000)), .closing(after: 600))
        let (result, recorder) = try await client(chunk: 10_000).run(origin.url("/file"))
        #expect(result.bytesReceived == 600)
        #expect(recorder.body == Content.random(seed: 8, count: 600))
    }

    @Test func fullWindowPausesOnlyItsOwnTransfer() async throws {
        let window = 200_000
        let bytes = Content.random(seed: 9, count: 20_000_000)
        origin.serve("/big", .file(bytes))
        origin.serve("/small", .file(Array(bytes.prefix(2_000_000))))
        let client = try client(chunk: 50_000, window: window)
        let slow = Recorder(holdingChunks: true)
        client.start(TransferRequest(url: origin.url("/big")), handler: slow)
        #expect(await slow.received(atLeast: window - 16_384))

        // Other transfers complete meanwhile, so the loop runs several turns without resuming the paused one.
        for _ in 0..<5 {
            let (result, _) = try await client.run(origin.url("/small"))
            #expect(result.outcome == .completed)
        }
        #expect(slow.body.count <= window)
        #expect(slow.state.current.results.isEmpty)

        slow.releaseChunks()
        #expect(try await slow.result().outcome == .completed)
        #expect(slow.body == bytes)
    }

    /// If all handlers together hold too much, each transfer gets one read of libcurl at a time.
    @Test func manyHeldBytesNarrowEveryWindow() async throws {
        let bytes = Content.random(seed: 14, count: 5_000_000)
        origin.serve("/file", .file(bytes))
        let client = try client(chunk: 50_000, window: 8 << 20, held: 100_000, flush: .milliseconds(20))
        let holding = Recorder(holdingChunks: true)
        client.start(TransferRequest(url: origin.url("/file")), handler: holding)
        #expect(await holding.received(atLeast: 100_000))
        let releasing = ReleasingHandler()
        client.start(TransferRequest(url: origin.url("/file")), handler: releasing)
        #expect(await releasing.finished.wait { $0 != nil })
        #expect(releasing.finished.current == .completed)
        #expect(releasing.count.current == bytes.count)
        #expect(holding.body.count <= 100_000 + 2 * (512 << 10))
        holding.releaseChunks()
        #expect(try await holding.result().outcome == .completed)
        #expect(holding.body == bytes)
    }

    @Test func windowSmallerThanOnePieceMakesProgress() async throws {
        let bytes = Content.random(seed: 10, count: 500_000)
        origin.serve("/file", .file(bytes))
        let (result, recorder) = try await client(chunk: 65_536, window: 1).run(origin.url("/file"))
        #expect(result.outcome == .completed)
        #expect(recorder.body == bytes)
    }

    @Test func chunksReleasedOnOtherThreadsResumeTheTransfer() async throws {
        let bytes = Content.random(seed: 11, count: 2_000_000)
        origin.serve("/file", .file(bytes))
        let client = try client(chunk: 32_768, window: 65_536)
        let releasing = ReleasingHandler()
        client.start(TransferRequest(url: origin.url("/file")), handler: releasing)
        #expect(await releasing.finished.wait { $0 != nil })
        #expect(releasing.finished.current == .completed)
        #expect(releasing.count.current == bytes.count)
    }

    /// A large window closes before a read of libcurl finds no room.
    @Test(arguments: TLSOrigin.isAvailable ? [false, true] : [false])
    func aLargeWindowPausesAndResumesWithoutALoss(isEncrypted: Bool) async throws {
        let bytes = Content.random(seed: 13, count: 20_000_000)
        let (server, client) = (
            isEncrypted ? try await TLSOrigin() : nil,
            try client(chunk: 512 << 10, window: 2 << 20, flush: .milliseconds(200))
        )
        (server?.origin ?? origin).serve("/file", .file(bytes))
        origin.serve("/small", .file([1]))
        let request = TransferRequest(
            url: server?.url("/file") ?? origin.url("/file"), tls: .init(caFile: server?.certificatePath))
        let recorder = Recorder(holdingChunks: true)
        client.start(request, handler: recorder)
        #expect(await recorder.received(atLeast: almostAWindow))
        // Other transfers complete meanwhile, so the loop runs several turns.
        for _ in 0..<5 { _ = try await client.run(origin.url("/small")) }
        #expect(recorder.body.count <= CurlClient.Options().windowBytes)
        recorder.releaseChunks()
        #expect(try await recorder.result().outcome == .completed)
        #expect(recorder.body == bytes)

        let releasing = ReleasingHandler()
        client.start(request, handler: releasing)
        #expect(await releasing.finished.wait { $0 != nil })
        #expect(releasing.count.current == bytes.count)
    }

    @Test func chunksOutliveTheirClient() async throws {
        let bytes = Content.random(seed: 12, count: 100_000)
        origin.serve("/file", .file(bytes))
        let recorder = Recorder(holdingChunks: true)
        let client = try client(chunk: 10_000)
        _ = try await client.run(TransferRequest(url: origin.url("/file")), recorder)
        await client.shutdown()
        let held = recorder.state.current.held.flatMap { chunk in chunk.withUnsafeBytes { Array($0) } }
        #expect(held == bytes)
        recorder.releaseChunks()
    }
}

/// Releases each chunk from a task, on another thread.
private final class ReleasingHandler: TransferHandler {
    let count = Monitor(0)
    let finished = Monitor(TransferResult.Outcome?.none)

    func received(head: ResponseHead) -> HeadDecision { .accept }

    func received(chunk: Chunk) {
        Task {
            await Task.yield()
            count.withLock { $0 += chunk.count }
        }
    }

    func finished(_ result: TransferResult) {
        Task {
            // The tasks may still run. The test compares only the count.
            _ = await count.wait { $0 == result.bytesReceived }
            finished.withLock { $0 = result.outcome }
        }
    }
}
