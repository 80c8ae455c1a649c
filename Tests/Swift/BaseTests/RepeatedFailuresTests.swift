import Base
import Testing

@Suite struct RepeatedFailuresTests {
    @Test func theFirstFailureAndOneOfEachMinuteGetALine() {
        var failures = RepeatedFailures()
        let counts = [1000, 1001, 1059, 1060, 1061, 1120].map { failures.note(at: .seconds($0)) }
        #expect(counts == [1, nil, nil, 3, nil, 2])
    }

    @Test func theEndIsReportedOnceAndTheNextFailureGetsALine() {
        var failures = RepeatedFailures()
        #expect(failures.end() == false)
        #expect(failures.note(at: .seconds(1)) == 1)
        #expect(failures.note(at: .seconds(2)) == nil)
        #expect(failures.end() == true)
        #expect(failures.end() == false)
        #expect(failures.note(at: .seconds(3)) == 1)
    }

    @Test(arguments: [(1, ""), (2, " (2 failures since the last such line)")])
    func aLineSaysForHowManyFailuresItStands(_ count: Int, _ suffix: String) {
        #expect(RepeatedFailures.suffix(count) == suffix)
    }
}
