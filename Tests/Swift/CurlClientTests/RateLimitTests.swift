import TestKit
import Testing

@testable import CurlClient

/// Limits on real transfers. The assertions also hold on a slow machine: bytes do not arrive faster than the limit
/// allows, and they arrive. `RateReservationTests` is exact.
@Suite struct RateLimitTests {
    let client: CurlClient
    let origin: Origin

    /// The largest piece of libcurl and the largest chunk: the tolerance in bytes.
    private static let piece = 16_384

    init() throws {
        var options = CurlClient.Options()
        options.chunkBytes = Self.piece
        client = try CurlClient(options: options)
        origin = try Origin()
    }

    /// A started transfer.
    private func start(
        _ path: String, _ limits: [RateLimit], timeouts: TransferRequest.Timeouts = .init()
    ) -> (Transfer, Recorder) {
        let recorder = Recorder()
        let request = TransferRequest(url: origin.url(path), timeouts: timeouts, rateLimits: limits)
        return (client.start(request, handler: recorder), recorder)
    }

    /// Waits until `count` bytes have arrived, and expects no more than the rate allows since `start`. It reads the
    /// count before the clock, so that a delay of the test does not count as a violation.
    private func expectRate(
        _ rate: Int, since start: ContinuousClock.Instant, of recorders: [Recorder], until count: Int, besides: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let bytes = try await eventually("\(count) bytes") { () -> Int? in
            let bytes = recorders.map(\.body.count).reduce(0, +)
            return bytes >= count ? bytes : nil
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let allowed = Int(Double(rate) * (seconds + 0.2)) + besides + Self.piece * recorders.count
        #expect(bytes <= allowed, "\(bytes) in \(seconds) s", sourceLocation: sourceLocation)
    }

    @Test(arguments: [20_000, 300_000, 4_000_000])
    func transferObservesItsLimit(rate: Int) async throws {
        // It does not complete, however late the test looks.
        origin.serve("/file", .file(Content.random(seed: 40, count: 4 * rate)), .stalling(after: 4 * rate - 1))
        let begin = ContinuousClock.now
        let (transfer, recorder) = start("/file", [RateLimit(bytesPerSecond: Int64(rate))])
        try await expectRate(rate, since: begin, of: [recorder], until: rate * 3 / 2)
        #expect(recorder.state.current.results.isEmpty)
        transfer.cancel()
        #expect(try await recorder.result().outcome == .cancelled)
    }

    @Test func limitedTransferCompletes() async throws {
        let bytes = Content.random(seed: 41, count: 300_001)
        origin.serve("/file", .file(bytes), .chunked())
        let (_, recorder) = start("/file", [RateLimit(bytesPerSecond: 400_000)])
        #expect(try await recorder.result().outcome == .completed)
        #expect(recorder.body == bytes)
        #expect(recorder.state.current.violations.isEmpty)
    }

    /// The pieces have 16 KiB, because there was no limit when the transfer started. Each is paid for afterwards.
    @Test func limitSetDuringATransferHolds() async throws {
        let (gate, limit) = (Gate(), RateLimit(bytesPerSecond: nil))
        origin.serve("/file", .file(Content.random(seed: 42, count: 1_000_000)), .waiting(at: 1, for: gate))
        let (_, recorder) = start("/file", [limit])
        await gate.reached()
        limit.bytesPerSecond = 60_000
        let begin = ContinuousClock.now
        gate.open()
        try await expectRate(60_000, since: begin, of: [recorder], until: 110_000)
        limit.bytesPerSecond = nil
        #expect(try await recorder.result().outcome == .completed)
    }

    @Test(arguments: [2, 5])
    func transfersShareALimitEvenly(count: Int) async throws {
        let (rate, gate) = (500_000, Gate())
        origin.serve("/file", .file(Content.random(seed: 43, count: 2_000_000)), .waiting(at: 1, for: gate))
        let limit = RateLimit(bytesPerSecond: Int64(rate))
        let recorders = (0..<count).map { _ in start("/file", [limit]).1 }
        await gate.reached(by: count)
        let begin = ContinuousClock.now
        gate.open()
        let total = rate * 5 / 2
        // The first transfers reserved more, because fewer shared the limit.
        try await expectRate(rate, since: begin, of: recorders, until: total, besides: rate / 5)
        let shares = recorders.map(\.body.count)
        #expect(shares.allSatisfy { $0 >= total / count / 5 }, "\(shares)")
    }

    @Test func raisedLimitTakesEffectAtOnce() async throws {
        let bytes = Content.random(seed: 44, count: 3_000_000)
        origin.serve("/file", .file(bytes))
        let limit = RateLimit(bytesPerSecond: 2_000)
        let (_, recorder) = start("/file", [limit])
        #expect(await recorder.received(atLeast: 1))
        // The bytes of 25 minutes at the old rate.
        limit.bytesPerSecond = 100_000_000
        #expect(try await recorder.result().outcome == .completed)
        #expect(recorder.body == bytes)
    }

    @Test func loweredLimitTakesEffect() async throws {
        let (before, after) = (2_000_000, 200_000)
        origin.serve("/file", .file(Content.random(seed: 45, count: 20_000_000)))
        let limit = RateLimit(bytesPerSecond: Int64(before))
        let (transfer, recorder) = start("/file", [limit])
        #expect(await recorder.received(atLeast: before / 5))
        limit.bytesPerSecond = Int64(after)
        let begin = ContinuousClock.now
        // Bytes that were granted at the old rate may still arrive.
        let besides = recorder.body.count + before / 5 + Self.piece
        try await expectRate(after, since: begin, of: [recorder], until: besides + after, besides: besides)
        transfer.cancel()
    }

    @Test func removedLimitTakesEffectAtOnce() async throws {
        let bytes = Content.random(seed: 46, count: 5_000_000)
        origin.serve("/file", .file(bytes))
        let limits = [RateLimit(bytesPerSecond: 1), RateLimit(bytesPerSecond: nil), RateLimit(bytesPerSecond: 1_000)]
        let recorders = (0..<3).map { _ in start("/file", limits).1 }
        #expect(await recorders[0].received(atLeast: 1))
        for limit in limits { limit.bytesPerSecond = nil }
        for recorder in recorders {
            #expect(try await recorder.result().outcome == .completed)
            #expect(recorder.body == bytes)
        }
    }

    @Test func lowestOfSeveralLimitsDecides() async throws {
        origin.serve("/file", .file(Content.random(seed: 47, count: 2_000_000)))
        let rates: [Int64?] = [3_000_000, 200_000, nil, 1_000_000]
        let begin = ContinuousClock.now
        let (transfer, recorder) = start("/file", rates.map { RateLimit(bytesPerSecond: $0) })
        try await expectRate(200_000, since: begin, of: [recorder], until: 300_000)
        transfer.cancel()
    }

    /// A reservation is one entry in the queue of its limit. `quantum` shows the number of entries.
    @Test(arguments: ["cancelled", "late", "shut down"])
    func endedTransferLeavesTheQueue(how: String) async throws {
        origin.serve("/file", .file(Content.random(seed: 48, count: 2_000_000)))
        let limit = RateLimit(bytesPerSecond: 100_000)
        let timeouts = TransferRequest.Timeouts(total: how == "late" ? .seconds(6) : nil)
        let all = (0..<4).map { _ in start("/file", [limit], timeouts: timeouts) }
        // Each transfer has had a turn and is not complete, so it waits or is about to.
        for (_, recorder) in all { #expect(await recorder.received(atLeast: 1)) }
        try await eventually("a transfer that waits") { limit.quantum == 10_000 ? nil : () }
        if how == "cancelled" { for (transfer, _) in all { transfer.cancel() } }
        if how == "shut down" { await client.shutdown() }
        for (_, recorder) in all {
            let outcome = try await recorder.result().outcome
            #expect(outcome == (how == "late" ? .failed(.timedOut(.total)) : .cancelled))
        }
        #expect(limit.quantum == 10_000)
        // An ended transfer receives no changes of the limit.
        limit.bytesPerSecond = 1_000_000
    }

    @Test func limitDoesNotResumeATransferWithAFullWindow() async throws {
        let bytes = Content.random(seed: 49, count: 1_000_000)
        origin.serve("/file", .file(bytes))
        var options = CurlClient.Options()
        (options.chunkBytes, options.windowBytes) = (Self.piece, 50_000)
        let client = try CurlClient(options: options)
        let limit = RateLimit(bytesPerSecond: 500_000)
        let recorder = Recorder(holdingChunks: true)
        client.start(TransferRequest(url: origin.url("/file"), rateLimits: [limit]), handler: recorder)
        #expect(await recorder.received(atLeast: 50_000 - 2 * Self.piece))
        for rate in [1_000_000, 2_000_000, nil] as [Int64?] {
            limit.bytesPerSecond = rate
            // A second transfer completes, so the loop has processed the change.
            _ = try await client.exchange(TransferRequest(url: origin.url("/none")), bodyLimit: 100)
        }
        #expect(recorder.body.count <= 50_000)
        recorder.releaseChunks()
        #expect(try await recorder.result().outcome == .completed)
        #expect(recorder.body == bytes)
    }

    @Test func pauseByARateLimitIsNotIdleTime() async throws {
        let (gate, limit) = (Gate(), RateLimit(bytesPerSecond: nil))
        let bytes = Content.random(seed: 50, count: 34_000)
        origin.serve("/file", .file(bytes), .waiting(at: 0, for: gate))
        let (_, recorder) = start("/file", [limit], timeouts: .init(idle: .seconds(3)))
        await gate.reached()
        // A piece of 16 KiB takes four seconds at this rate.
        limit.bytesPerSecond = 4_096
        gate.open()
        #expect(try await recorder.result().outcome == .completed)
        #expect(recorder.body == bytes)
    }

    @Test func unlimitedRateDoesNotDelay() async throws {
        let bytes = Content.random(seed: 51, count: 20_000_000)
        origin.serve("/file", .file(bytes))
        let limits = (0..<3).map { _ in RateLimit(bytesPerSecond: nil) }
        let (_, recorder) = start("/file", limits)
        #expect(try await recorder.result().outcome == .completed)
        #expect(recorder.body == bytes)
        // No transfer waited, and there is no debt.
        for limit in limits { limit.bytesPerSecond = 1_000_000 }
        #expect(limits.map(\.quantum) == [100_000, 100_000, 100_000])
    }

    @Test func discardedBodyDoesNotCount() async throws {
        origin.serve("/gone", .fixed(status: 404, body: Content.random(seed: 52, count: 20_000)))
        let limit = RateLimit(bytesPerSecond: 1)
        for _ in 0..<3 {
            let (result, _) = try await client.run(
                TransferRequest(url: origin.url("/gone"), rateLimits: [limit]), Recorder { _ in .reject })
            #expect(result.outcome == .rejected)
        }
    }
}
