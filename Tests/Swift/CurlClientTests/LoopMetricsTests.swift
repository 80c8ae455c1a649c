import CurlClient
import TestKit
import Testing

/// The metrics of a real client thread.
@Suite struct LoopMetricsTests {
    let client: CurlClient
    let origin: Origin

    init() throws {
        client = try CurlClient()
        origin = try Origin()
        origin.serve("/file", .file(Content.random(seed: 31, count: 100_000)))
    }

    /// A pause of the whole machine looks like a thread that is blocked, but hardly for five clients in sequence.
    @Test func lagStaysLowWithoutBlocking() async throws {
        for _ in 0..<5 {
            let client = try CurlClient()
            for _ in 0..<20 {
                let (result, _) = try await client.run(origin.url("/file"))
                #expect(result.outcome == .completed)
            }
            let metrics = client.loopMetrics
            #expect(metrics.turns.counts.reduce(0, +) >= 20)
            if metrics.lag < .seconds(1), metrics.turns.counts.last == 0 { return }
        }
        Issue.record("the threads of five clients were late")
    }

    /// A blocking handler delays everything else. The metrics show this while it blocks.
    @Test func blockingHandlerIncreasesTheLag() async throws {
        let gate = Gate()
        let blocking = Recorder { _ in
            gate.pass()
            return .accept
        }
        client.start(TransferRequest(url: origin.url("/file")), handler: blocking)
        #expect(await gate.reached())
        let waiting = Recorder()
        client.start(TransferRequest(url: origin.url("/file")), handler: waiting)
        // A busy machine may have caused lag before. From here on, the lag grows only because the thread is blocked.
        let before = client.loopMetrics.lag
        let lag = try await eventually("the thread to be late") {
            client.loopMetrics.lag > before + .milliseconds(120) ? client.loopMetrics.lag : nil
        }
        #expect(waiting.state.current.results.isEmpty)
        gate.open()
        for recorder in [blocking, waiting] { #expect(try await recorder.result().outcome == .completed) }
        #expect(client.loopMetrics.lag >= lag)
        // Both transfers may end within the blocked turn, which is counted at its end.
        _ = try await eventually("the turn to be counted") {
            client.loopMetrics.turns.counts.dropFirst(4).contains { $0 > 0 } ? true : nil
        }
    }
}
