import Testing

@testable import FetchdClient

@Suite struct SessionRecordTests {
    @Test func countsCallsOfOneEvent() {
        var record = SessionRecord(after: 10)
        #expect(record.calls(of: 12) == 0)
        record.recordCall(of: 12)
        #expect(record.calls(of: 12) == 1)
        #expect(record.calls(of: 13) == 0)
        record.recordEvent(12)
        #expect(record.event == 12)
        #expect(record.partial == nil)
        record.recordEvent(0)
        #expect(record.event == 12)
    }

    /// An acknowledgement covers all earlier finishes, so it must wait for their handlers.
    @Test func acknowledgesFinishesInOrder() {
        var record = SessionRecord(after: 0)
        for finish: Int64 in [5, 9, 14] { record.openedFinish(finish) }
        record.openedFinish(9)
        #expect(record.open == [5, 9, 14])
        record.answeredFinish(9)
        #expect(record.acknowledged == 0 && record.isAnswered(9) && !record.isAnswered(5))
        record.answeredFinish(5)
        #expect(record.acknowledged == 9 && record.isAnswered(5) && record.open == [14])
        record.answeredFinish(14)
        #expect(record.acknowledged == 14 && record.open == [])
    }

    /// A challenge that still waits for its answer holds back no acknowledgement.
    @Test func keepsChallengesOpen() {
        var record = SessionRecord(after: 0)
        record.openedChallenge(4)
        record.openedFinish(5)
        #expect(record.open == [4, 5])
        record.answeredFinish(5)
        #expect(record.acknowledged == 5 && record.open == [4])
        record.closedChallenge(4)
        #expect(record.open == [])
    }
}
