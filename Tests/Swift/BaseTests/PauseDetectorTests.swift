import Base
import Testing

@Suite struct PauseDetectorTests {
    private let start = ContinuousClock.now

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test func beginsAfterALateTurn() {
        var grace = PauseDetector()
        grace.beganTurn(at: at(1), planned: at(0))
        #expect(grace.end(at: at(1)) == nil)
        grace.beganTurn(at: at(100), planned: at(2))
        #expect(grace.end(at: at(100)) == at(105))
        #expect(grace.end(at: at(104.9)) == at(105))
        #expect(grace.end(at: at(105)) == nil)
    }

    @Test func aThreadThatIsAlwaysLateJudgesHalfOfTheTime() {
        var grace = PauseDetector()
        let judging = (0..<100).map { second in
            grace.beganTurn(at: at(Double(second)), planned: at(Double(second) - 2))
            return grace.end(at: at(Double(second))) == nil
        }
        #expect(judging.count { $0 } == 50)
    }
}
