import Testing

@testable import CurlClient

@Suite struct LoopMetricsRecorderTests {
    let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    @Test func lagIsTheDelayOfDueWork() {
        var recorder = LoopMetricsRecorder(at: start)
        recorder.beginTurn(at: at(500), due: at(470))
        recorder.endTurn(at: at(501), lookups: (0, 0))
        #expect(recorder.snapshot(at: at(600)).lag == .milliseconds(30))
        // A turn in time, or without due work, has no lag.
        var punctual = LoopMetricsRecorder(at: start)
        punctual.beginTurn(at: at(500), due: at(700))
        punctual.endTurn(at: at(500), lookups: (0, 0))
        punctual.beginTurn(at: at(600), due: nil)
        punctual.endTurn(at: at(600), lookups: (0, 0))
        #expect(punctual.snapshot(at: at(700)).lag == .zero)
    }

    /// Work that arrives during a turn waits for its end, at most from its beginning.
    @Test func lagIncludesLongTurns() {
        var recorder = LoopMetricsRecorder(at: start)
        recorder.beginTurn(at: at(0), due: nil)
        recorder.endTurn(at: at(7_000), lookups: (0, 0))
        #expect(recorder.snapshot(at: at(7_001)).lag == .seconds(7))
    }

    @Test func lagGrowsDuringAHangingTurn() {
        var recorder = LoopMetricsRecorder(at: start)
        recorder.beginTurn(at: at(100), due: nil)
        #expect(recorder.snapshot(at: at(3_100)).lag == .seconds(3))
        #expect(recorder.snapshot(at: at(9_100)).lag == .seconds(9))
        // A sleeping thread has no lag.
        recorder.endTurn(at: at(9_100), lookups: (0, 0))
        #expect(recorder.snapshot(at: at(50_000)).lag == .seconds(9))
    }

    @Test func histogramCountsTurnDurations() {
        var recorder = LoopMetricsRecorder(at: start)
        for milliseconds in [0, 1, 2, 700, 6_000] {
            recorder.beginTurn(at: start, due: nil)
            recorder.endTurn(at: at(milliseconds), lookups: (2, 1))
        }
        let report = recorder.snapshot(at: start)
        #expect(report.turns.counts == [2, 1, 0, 0, 0, 1, 0, 1])
        #expect(report.turns.counts.count == report.turns.bounds.count + 1)
        #expect(abs(report.turns.sum - 6.703) < 1e-6)
        #expect(report.lookupsRunning == 2)
        #expect(report.lookupsQueued == 1)
    }
}

@Suite struct RecentMaximumTests {
    let start = ContinuousClock.now

    private func at(_ seconds: Int) -> ContinuousClock.Instant {
        start + .seconds(seconds)
    }

    @Test func recentMaximumCoversOneMinute() {
        var maximum = RecentMaximum(from: start)
        #expect(maximum.value(at: at(0)) == .zero)
        maximum.add(.seconds(3), at: at(5))
        maximum.add(.seconds(1), at: at(8))
        maximum.add(.seconds(2), at: at(31))
        #expect(maximum.value(at: at(31)) == .seconds(3))
        #expect(maximum.value(at: at(65)) == .seconds(3))
        #expect(maximum.value(at: at(70)) == .seconds(2))
        #expect(maximum.value(at: at(95)) == .seconds(2))
        #expect(maximum.value(at: at(100)) == .zero)
        #expect(maximum.value(at: at(100_000)) == .zero)
    }

    /// A slot is reused after seventy seconds. Its old value must not count.
    @Test func recentMaximumDropsOldValues() {
        var maximum = RecentMaximum(from: start)
        for second in stride(from: 0, to: 70, by: 10) { maximum.add(.seconds(9), at: at(second)) }
        maximum.add(.seconds(1), at: at(135))
        #expect(maximum.value(at: at(135)) == .seconds(1))
        maximum.add(.seconds(2), at: at(100_000))
        #expect(maximum.value(at: at(100_001)) == .seconds(2))
    }
}
