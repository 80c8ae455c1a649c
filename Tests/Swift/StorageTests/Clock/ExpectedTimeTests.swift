import Formats
import Foundation
import Testing

@testable import Storage

private let day: TimeInterval = 86_400
private let tenYears: TimeInterval = 3653 * day
private let start = Date(milliseconds: 1_566_228_194_000)

private func reading(_ seconds: TimeInterval, uptime: Int = 5000, boot: String? = "a") -> ClockReading {
    ClockReading(time: start.addingTimeInterval(seconds), uptime: .seconds(uptime), boot: boot)
}

/// Tests the time that a start expects, computed from the stored times.
@Suite struct ExpectedTimeTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let what: String
        /// Seconds after the stored reading, which has an uptime of 5,000 s.
        let shown: TimeInterval
        var uptime = 5100
        var boot: String? = "b"
        /// The time of the last event, in seconds after the reading.
        var event: TimeInterval?
        let expected: TimeInterval

        var testDescription: String { what }
    }

    private static let rows = [
        Row(what: "the same boot, on time", shown: 100, boot: "a", expected: 100),
        Row(what: "the same boot, ten years ahead", shown: 100 + tenYears, boot: "a", expected: 100),
        Row(what: "the same boot, a day ahead", shown: 100 + day, boot: "a", expected: 100),
        Row(what: "the same boot, a day back", shown: 100 - day, boot: "a", event: 50, expected: 100),
        Row(
            what: "the same boot, stopped for a year", shown: 365 * day, uptime: 5000 + 365 * 86_400, boot: "a",
            expected: 365 * day),
        // Such as a snapshot of a virtual machine.
        Row(what: "the same boot, but younger", shown: 100, uptime: 4000, boot: "a", expected: 100),
        Row(what: "another boot, a day of absence", shown: day, expected: day),
        Row(what: "another boot, a minute back", shown: -60, expected: -60),
        Row(what: "another boot, a day back", shown: -day, expected: 0),
        Row(what: "another boot, a day behind the last event", shown: -day, event: 500, expected: 500),
        Row(what: "another boot, ten years back", shown: -tenYears, expected: 0),
        Row(what: "another boot, 30 days of absence", shown: 30 * day, expected: 30 * day),
        Row(what: "another boot, 30 days after the last event", shown: 31 * day, event: day, expected: 31 * day),
        Row(what: "another boot, 31 days", shown: 31 * day, expected: 0),
        Row(what: "another boot, ten years ahead", shown: tenYears, event: 500, expected: 500),
        Row(what: "an unknown boot", shown: tenYears, boot: nil, expected: 0),
    ]

    @Test(arguments: rows) func followsFromTheLastReading(_ row: Row) {
        let now = reading(row.shown, uptime: row.uptime, boot: row.boot)
        let event = row.event.map(start.addingTimeInterval)
        #expect(now.expectedTime(after: reading(0), newestEvent: event).seconds(since: start) == row.expected)
    }

    @Test func isTheWallClockInANewDatabase() {
        #expect(reading(7).expectedTime(after: nil, newestEvent: nil) == reading(7).time)
    }

    /// A version that stored no readings.
    @Test func followsFromTheEventsAlone() {
        #expect(reading(-day).expectedTime(after: nil, newestEvent: start) == start)
        #expect(reading(day).expectedTime(after: nil, newestEvent: start) == reading(day).time)
    }

    private static let differences: [(TimeInterval, TimeInterval?)] = [
        (0, nil), (60, nil), (-60, nil), (60.001, 60.001), (-61, -61), (tenYears, tenYears),
    ]

    @Test(arguments: differences) func countsMoreThanAMinuteAsAJump(
        _ difference: TimeInterval, _ jump: TimeInterval?
    ) {
        let actual = start.addingTimeInterval(difference)
        #expect(ClockJump(from: start, to: actual, isAtStart: false)?.by == jump)
    }

    private static let texts: [(TimeInterval, String)] = [
        (tenYears, "3653 days ahead, to 2029-08-19T15:23:14.000Z"),
        (-day, "24 hours back, to 2019-08-18T15:23:14.000Z"),
        (-7200, "2 hours back, to 2019-08-19T13:23:14.000Z"), (90, "90 seconds ahead, to 2019-08-19T15:24:44.000Z"),
    ]

    @Test(arguments: texts) func describesAJump(_ by: TimeInterval, _ text: String) throws {
        let jump = ClockJump(from: start, to: start.addingTimeInterval(by), isAtStart: false)
        #expect(jump?.description == text)
    }
}

/// Tests the doubt after starts and jumps.
@Suite struct ClockConfidenceTests {
    /// Several jumps, each with the seconds since the previous one and its size.
    private func confidence(_ jumps: [(after: TimeInterval, by: TimeInterval)]) -> (ClockConfidence, now: Date) {
        var (confidence, now) = (ClockConfidence(steadySince: start), start)
        for jump in jumps {
            now += jump.after + jump.by
            confidence = confidence.after(ClockJump(by: jump.by, to: now, isAtStart: false))
        }
        return (confidence, now)
    }

    @Test func forbidsRemovalInTheHourAfterAStart() {
        let confidence = ClockConfidence(steadySince: start)
        for (lifetime, quiet) in [(7 * day, 3600.0), (3600, 3600), (100, 100), (0, 0)] {
            #expect(confidence.removalStart(forDataKeptFor: lifetime) == start + quiet)
            #expect(confidence.allowsRemoval(ofDataKeptFor: lifetime, at: start + quiet))
            #expect(!confidence.allowsRemoval(ofDataKeptFor: lifetime, at: start + quiet - 1))
        }
    }

    @Test(arguments: [tenYears, -tenYears, day, -day]) func forbidsRemovalInTheHourAfterAJump(_ by: TimeInterval) {
        let (confidence, now) = confidence([(after: 5 * day, by: by)])
        #expect(!confidence.allowsRemoval(ofDataKeptFor: day, at: now + 3599))
        #expect(confidence.allowsRemoval(ofDataKeptFor: day, at: now + 3600))
    }

    @Test func doubtsAJumpAheadForAnHour() {
        let (confidence, now) = confidence([(after: 10, by: tenYears)])
        #expect(confidence.doubt(at: now + 3599) == tenYears)
        #expect(confidence.doubt(at: now + 3600) == 0)
    }

    @Test func doesNotDoubtAJumpBack() {
        let (confidence, now) = confidence([(after: 10, by: -tenYears)])
        #expect(confidence.doubt(at: now) == 0)
    }

    @Test func addsUpTheJumpsOfOneHour() {
        let corrected = confidence([(after: 10, by: tenYears), (after: 600, by: -tenYears)])
        #expect(corrected.0.doubt(at: corrected.now) == 0)
        let partly = confidence([(after: 10, by: tenYears), (after: 600, by: day - tenYears)])
        #expect(partly.0.doubt(at: partly.now) == day)
        let late = confidence([(after: 10, by: tenYears), (after: 4000, by: day)])
        #expect(late.0.doubt(at: late.now) == day)
        let back = confidence([(after: 10, by: -tenYears), (after: 600, by: tenYears)])
        #expect(back.0.doubt(at: back.now) == tenYears)
    }

    /// A process that starts soon after the jumps has the same doubt.
    @Test func doubtsStoredJumpsAfterARestart() {
        func confidence(_ jumps: (ago: TimeInterval, by: TimeInterval)...) -> TimeInterval {
            ClockConfidence(
                steadySince: start,
                jumps: jumps.map { ClockJump(by: $0.by, to: start - $0.ago, isAtStart: false) }
            ).doubt(at: start + 60)
        }
        #expect(confidence() == 0)
        #expect(confidence((ago: 3000, by: tenYears)) == tenYears)
        #expect(confidence((ago: 3600, by: tenYears)) == 0)
        #expect(confidence((ago: 3000, by: tenYears), (ago: 600, by: -tenYears)) == 0)
        #expect(confidence((ago: 3000, by: tenYears), (ago: 600, by: -day)) == tenYears - day)
        #expect(confidence((ago: 3000, by: -tenYears), (ago: 600, by: day)) == day)
    }

    /// `deadline` and `not_before`: the time, when it was named, and now, in seconds from a jump of one day ahead.
    private static let moments: [(moment: TimeInterval, named: TimeInterval, now: TimeInterval, hasCome: Bool)] = [
        (-day - 1, -day - 5, 0, true), (-1, -day - 5, 0, false), (-1, -day - 5, 3599, false),
        (-1, -day - 5, 3600, true),
        // Named on the new clock.
        (5, 1, 5, true), (5, 1, 4, false),
        // In the future on both clocks.
        (4000, -day - 5, 3999, false),
    ]

    @Test(arguments: moments) func comparesClientTimesWithBothClocks(
        _ moment: TimeInterval, _ named: TimeInterval, _ now: TimeInterval, _ hasCome: Bool
    ) {
        let (confidence, jump) = confidence([(after: 10, by: day)])
        #expect(confidence.hasCome(jump + moment, namedAt: jump + named, at: jump + now) == hasCome)
    }
}
