import CurlClient
import TestKit
import Testing

/// Servers that send too slowly.
@Suite struct MinimumSpeedTests {
    let client: CurlClient
    let origin: Origin
    /// A speed above that of the slow servers, and below that of the others.
    private let demanding = TransferRequest.MinimumSpeed(bytesPerSecond: 100_000, over: .milliseconds(500))
    /// The same, for servers that are fast enough even on a busy machine.
    private let patient = TransferRequest.MinimumSpeed(bytesPerSecond: 100_000, over: .seconds(2))
    /// Only a server that sends nothing for three seconds is slower.
    private let lenient = TransferRequest.MinimumSpeed(bytesPerSecond: 1_000, over: .seconds(3))

    init() throws {
        client = try CurlClient()
        origin = try Origin()
    }

    private func request(
        _ speed: TransferRequest.MinimumSpeed?, timeouts: TransferRequest.Timeouts = .init(), limits: [RateLimit] = []
    ) -> TransferRequest {
        TransferRequest(url: origin.url("/file"), timeouts: timeouts, rateLimits: limits, minimumSpeed: speed)
    }

    @Test(
        arguments: [.limited(bytesPerSecond: 5_000), .stalling(after: 0), .stalling(after: 1_000)] as [OriginBehaviour])
    func slowServerFailsWithTooSlow(behaviour: OriginBehaviour) async throws {
        let bytes = Content.random(seed: 60, count: 1_000_000)
        origin.serve("/file", .file(bytes), behaviour)
        let begin = ContinuousClock.now
        let (result, recorder) = try await client.run(request(demanding))
        #expect(result.outcome == .failed(.tooSlow))
        #expect(result.head?.status == 200)
        // Not before the end of the first window.
        #expect(ContinuousClock.now - begin >= .milliseconds(500))
        // Received bytes are kept.
        #expect(Int(result.bytesReceived) == recorder.body.count)
        #expect(recorder.body == Array(bytes.prefix(recorder.body.count)))
        #expect(recorder.state.current.violations.isEmpty)
        #expect(await origin.waitForSilence())
    }

    @Test func serverThatBecomesSlowFailsWithTooSlow() async throws {
        let gate = Gate()
        origin.serve("/file", .file(Content.random(seed: 61, count: 3_000_000)), .waiting(at: 2_000_000, for: gate))
        let (result, _) = try await client.run(request(lenient))
        #expect(result.outcome == .failed(.tooSlow))
        #expect(result.bytesReceived == 2_000_000)
    }

    @Test func fastEnoughServerCompletes() async throws {
        // It takes longer than the window.
        let bytes = Content.random(seed: 62, count: 400_000)
        origin.serve("/file", .file(bytes), .limited(bytesPerSecond: 100_000))
        let (result, recorder) = try await client.run(request(lenient))
        #expect(result.outcome == .completed)
        #expect(recorder.body == bytes)
    }

    @Test(arguments: [nil, .init(bytesPerSecond: 0, over: .milliseconds(100))] as [TransferRequest.MinimumSpeed?])
    func slowServerCompletesWithoutAMinimumSpeed(speed: TransferRequest.MinimumSpeed?) async throws {
        origin.serve("/file", .file([1, 2, 3]), .stalling(after: 1))
        let (result, _) = try await client.run(request(speed, timeouts: .init(idle: .milliseconds(700))))
        #expect(result.outcome == .failed(.timedOut(.idle)))
    }

    /// A head that takes seconds to arrive.
    @Test func timeBeforeTheHeadDoesNotCount() async throws {
        origin.serve("/file", .file(Content.random(seed: 63, count: 500)), .slowHead(every: .milliseconds(30)))
        let (result, _) = try await client.run(request(patient))
        #expect(result.outcome == .completed)
    }

    @Test func pauseByARateLimitDoesNotCount() async throws {
        let bytes = Content.random(seed: 64, count: 60_000)
        origin.serve("/file", .file(bytes))
        let limit = RateLimit(bytesPerSecond: 15_000)
        let (result, recorder) = try await client.run(request(patient, limits: [limit]))
        #expect(result.outcome == .completed)
        #expect(recorder.body == bytes)
    }

    /// A rate limit does not excuse a server that sends nothing.
    @Test func slowServerFailsUnderARateLimit() async throws {
        origin.serve("/file", .file(Content.random(seed: 65, count: 1_000_000)), .stalling(after: 30_000))
        let limit = RateLimit(bytesPerSecond: 30_000)
        let (result, recorder) = try await client.run(request(lenient, limits: [limit]))
        #expect(result.outcome == .failed(.tooSlow))
        #expect(recorder.body.count == 30_000)
    }

    @Test func pauseByAFullWindowDoesNotCount() async throws {
        let bytes = Content.random(seed: 66, count: 10_000_000)
        origin.serve("/file", .file(bytes))
        // Before the first pause, the server must also be fast enough: a sixteenth of the window in any two seconds.
        let speed = TransferRequest.MinimumSpeed(bytesPerSecond: 32 * 1024, over: .seconds(2))
        let recorder = Recorder(holdingChunks: true)
        client.start(request(speed), handler: recorder)
        #expect(await recorder.received(atLeast: almostAWindow))
        // This test measures time: the pause is longer than the limit for a silent server.
        try await Task.sleep(for: .seconds(3))
        #expect(recorder.state.current.results.isEmpty)
        recorder.releaseChunks()
        #expect(try await recorder.result().outcome == .completed)
        #expect(recorder.body == bytes)
    }

    @Test func rejectedHeadDoesNotStartTheMonitor() async throws {
        origin.serve("/file", .file(Content.random(seed: 67, count: 1_000)), .stalling(after: 10))
        let (result, _) = try await client.run(request(demanding), Recorder { _ in .reject })
        #expect(result.outcome == .rejected)
    }
}
