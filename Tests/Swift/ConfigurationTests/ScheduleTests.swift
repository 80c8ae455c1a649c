import Configuration
import Formats
import Foundation
import Testing

/// Which limits a schedule sets at an instant, and when they change next.
@Suite struct ScheduleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var rules: [String]
        var at: String
        var rate: Int64?
        var jobs: Int?
        /// nil: never.
        var until: String?

        init(_ rules: [String], at: String, rate: Int64? = nil, jobs: Int? = nil, until: String?) {
            (self.rules, self.at, self.rate, self.jobs, self.until) = (rules, at, rate, jobs, until)
        }

        var testDescription: String { "\(rules) at \(at)" }
    }

    /// 2026-11-23 is a Monday.
    private static let work = ["mon-fri 08:00-18:00 UTC max_concurrent_jobs=2"]
    private static let night = ["fri 22:00-06:00 UTC max_concurrent_jobs=0"]
    private static let overlapping = [
        "mon 12:00-13:00 UTC max_concurrent_jobs=1",
        "mon-fri 08:00-18:00 UTC rate_limit_bytes_per_second=1Ki max_concurrent_jobs=2",
        "daily 00:00-24:00 UTC rate_limit_bytes_per_second=1M",
    ]

    private static let days: [Row] = [
        // Within one day: the beginning belongs to the window, the end does not.
        .init(work, at: "2026-11-23T07:59:59Z", until: "2026-11-23T08:00:00Z"),
        .init(work, at: "2026-11-23T08:00:00Z", jobs: 2, until: "2026-11-23T18:00:00Z"),
        .init(work, at: "2026-11-23T17:59:59Z", jobs: 2, until: "2026-11-23T18:00:00Z"),
        .init(work, at: "2026-11-23T18:00:00Z", until: "2026-11-24T08:00:00Z"),
        .init(work, at: "2026-11-27T18:00:00Z", until: "2026-11-30T08:00:00Z"),
        .init(work, at: "2026-11-28T12:00:00Z", until: "2026-11-30T08:00:00Z"),
        // Over midnight: the window belongs to the day on which it begins.
        .init(night, at: "2026-11-27T21:59:00Z", until: "2026-11-27T22:00:00Z"),
        .init(night, at: "2026-11-27T23:00:00Z", jobs: 0, until: "2026-11-28T06:00:00Z"),
        .init(night, at: "2026-11-28T05:59:59Z", jobs: 0, until: "2026-11-28T06:00:00Z"),
        .init(night, at: "2026-11-28T22:00:00Z", until: "2026-12-04T22:00:00Z"),
        // A day before the first rule, and before 1970.
        .init(work, at: "1969-12-28T12:00:00Z", until: "1969-12-29T08:00:00Z"),
        // No rule, and a rule that is always active.
        .init([], at: "2026-11-23T08:00:00Z", until: nil),
        .init(["daily 00:00-24:00 UTC max_concurrent_jobs=3"], at: "2026-11-23T08:00:00Z", jobs: 3, until: nil),
        .init(
            ["daily 06:00-18:00 UTC max_concurrent_jobs=3", "daily 18:00-06:00 UTC max_concurrent_jobs=3"],
            at: "2026-11-23T08:00:00Z", jobs: 3, until: nil),
        .init(
            ["sun-tue 00:00-24:00 UTC max_concurrent_jobs=3"], at: "2026-11-22T12:00:00Z", jobs: 3,
            until: "2026-11-25T00:00:00Z"),
        // Days over the end of the week.
        .init(
            ["sat-mon 10:00-11:00 UTC max_concurrent_jobs=3"], at: "2026-11-23T10:30:00Z", jobs: 3,
            until: "2026-11-23T11:00:00Z"),
        .init(
            ["sat,mon 10:00-11:00 UTC max_concurrent_jobs=3"], at: "2026-11-22T10:30:00Z", until: "2026-11-23T10:00:00Z"
        ),
    ]

    private static let overlaps: [Row] = [
        // For each limit, the first active rule that sets it decides.
        .init(overlapping, at: "2026-11-23T07:00:00Z", rate: 1_000_000, until: "2026-11-23T08:00:00Z"),
        .init(overlapping, at: "2026-11-23T09:00:00Z", rate: 1024, jobs: 2, until: "2026-11-23T12:00:00Z"),
        .init(overlapping, at: "2026-11-23T12:30:00Z", rate: 1024, jobs: 1, until: "2026-11-23T13:00:00Z"),
        .init(overlapping, at: "2026-11-24T12:30:00Z", rate: 1024, jobs: 2, until: "2026-11-24T18:00:00Z"),
        .init(overlapping, at: "2026-11-28T12:30:00Z", rate: 1_000_000, until: "2026-11-30T08:00:00Z"),
        // A window that a stronger rule covers is no change.
        .init(
            ["daily 08:00-20:00 UTC max_concurrent_jobs=1", "daily 10:00-12:00 UTC max_concurrent_jobs=5"],
            at: "2026-11-23T09:00:00Z", jobs: 1, until: "2026-11-23T20:00:00Z"),
        // Two time zones.
        .init(
            ["daily 08:00-09:00 Europe/Berlin max_concurrent_jobs=1", "daily 08:00-09:00 UTC max_concurrent_jobs=2"],
            at: "2026-11-23T07:30:00Z", jobs: 1, until: "2026-11-23T08:00:00Z"),
    ]

    /// In Berlin, the clocks are set from 02:00 to 03:00 on 2026-03-29 (at 01:00Z), and from 03:00 to 02:00 on 2026-10-25
    /// (at 01:00Z). Both are Sundays.
    private static let clockChanges: [Row] = [
        .init(berlin("08:00-18:00"), at: "2026-03-28T12:00:00Z", jobs: 1, until: "2026-03-28T17:00:00Z"),
        .init(berlin("08:00-18:00"), at: "2026-03-28T18:00:00Z", until: "2026-03-29T06:00:00Z"),
        .init(berlin("08:00-18:00"), at: "2026-10-24T17:00:00Z", until: "2026-10-25T07:00:00Z"),
        // Over the change: an hour shorter in spring, an hour longer in autumn.
        .init(berlin("22:00-06:00"), at: "2026-03-28T21:00:00Z", jobs: 1, until: "2026-03-29T04:00:00Z"),
        .init(berlin("22:00-06:00"), at: "2026-10-24T20:00:00Z", jobs: 1, until: "2026-10-25T05:00:00Z"),
        // Times that the clocks skip: the moment of the change.
        .init(berlin("02:30-04:00"), at: "2026-03-29T00:59:59Z", until: "2026-03-29T01:00:00Z"),
        .init(berlin("02:30-04:00"), at: "2026-03-29T01:00:00Z", jobs: 1, until: "2026-03-29T02:00:00Z"),
        .init(berlin("01:00-02:30"), at: "2026-03-29T00:30:00Z", jobs: 1, until: "2026-03-29T01:00:00Z"),
        // A window within the skipped hour does not occur.
        .init(berlin("02:10-02:50"), at: "2026-03-29T00:00:00Z", until: "2026-03-30T00:10:00Z"),
        .init(berlin("02:10-02:50", "sun"), at: "2026-03-29T00:00:00Z", until: "2026-04-05T00:10:00Z"),
        // Times that occur twice: the first time counts, and the window occurs once.
        .init(berlin("02:10-02:50"), at: "2026-10-25T00:10:00Z", jobs: 1, until: "2026-10-25T00:50:00Z"),
        .init(berlin("02:10-02:50"), at: "2026-10-25T01:20:00Z", until: "2026-10-26T01:10:00Z"),
        .init(berlin("01:00-02:30"), at: "2026-10-25T00:00:00Z", jobs: 1, until: "2026-10-25T00:30:00Z"),
        .init(berlin("02:30-04:00"), at: "2026-10-25T00:30:00Z", jobs: 1, until: "2026-10-25T03:00:00Z"),
        // South of the equator, an offset of half an hour, and a day that does not exist (Samoa, 2011-12-30).
        .init(
            ["sun 01:00-04:00 Australia/Lord_Howe max_concurrent_jobs=1"], at: "2026-10-03T15:00:00Z", jobs: 1,
            until: "2026-10-03T17:00:00Z"),
        .init(
            ["daily 00:00-24:00 Asia/Kolkata max_concurrent_jobs=1"], at: "2026-11-23T00:00:00Z", jobs: 1, until: nil),
        .init(
            ["mon 00:00-24:00 Asia/Kolkata max_concurrent_jobs=1"], at: "2026-11-22T18:29:59Z",
            until: "2026-11-22T18:30:00Z"),
        .init(
            ["fri 00:00-24:00 Pacific/Apia max_concurrent_jobs=1"], at: "2011-12-29T12:00:00Z",
            until: "2012-01-05T10:00:00Z"),
    ]

    private static func berlin(_ times: String, _ days: String = "daily") -> [String] {
        ["\(days) \(times) Europe/Berlin max_concurrent_jobs=1"]
    }

    @Test(arguments: days + overlaps + clockChanges)
    func setsLimitsAndNamesTheirNextChange(_ row: Row) throws {
        let schedule = Schedule(try row.rules.map { try ScheduleRule($0) })
        let instant = try #require(Date(rfc3339: row.at))
        let found = schedule.limits(at: instant)
        #expect(found.limits.rateLimit == row.rate && found.limits.maxConcurrentJobs == row.jobs)
        #expect(found.until == row.until.flatMap { Date(rfc3339: $0) }, "\(found.until?.rfc3339 ?? "never")")
    }

    /// The limits change exactly at the announced instants: minute by minute over a change of the clocks, and from one
    /// announced change to the next.
    @Test(arguments: ["2026-03-28T00:00:00Z", "2026-10-24T00:00:00Z", "2026-11-26T00:00:00Z"])
    func changesOnlyWhereAnnounced(_ start: String) throws {
        let texts = [
            "sat,sun 02:15-02:45 Europe/Berlin max_concurrent_jobs=1",
            "daily 22:00-03:00 Europe/Berlin max_concurrent_jobs=2",
            "fri-sun 12:00-24:00 America/New_York rate_limit_bytes_per_second=0",
        ]
        let schedule = Schedule(try texts.map { try ScheduleRule($0) })
        let begin = try #require(Date(rfc3339: start))
        var before = schedule.limits(at: begin)
        var changes = 0
        for minute in 1...2880 {
            let instant = begin.addingTimeInterval(Double(minute) * 60)
            let now = schedule.limits(at: instant)
            let isAnnounced = before.until == instant
            #expect((now.limits != before.limits) == isAnnounced, "\(instant.rfc3339)")
            if !isAnnounced { #expect(now.until == before.until, "\(instant.rfc3339)") }
            changes += isAnnounced ? 1 : 0
            before = now
        }
        #expect(changes >= 4)
    }

    // MARK: Text

    @Test(
        arguments: [
            ("mon-fri 08:00-18:00 Europe/Berlin max_concurrent_jobs=2", nil),
            ("daily 22:00-06:00 UTC rate_limit_bytes_per_second=1048576 max_concurrent_jobs=0", nil),
            ("DAILY 00:00-00:00 UTC max_concurrent_jobs=2", "begins and ends at the same time"),
            ("Sat,Sun 08:00-00:00  UTC rate_limit_bytes_per_second=1M", nil),
            ("sun-mon,wed 08:00-24:00 UTC rate_limit_bytes_per_second=1024gi", nil),
            ("", "needs days, times"), ("mon 08:00-18:00 UTC", "needs days, times"),
            ("mun 08:00-18:00 UTC max_concurrent_jobs=2", "'mun' names no days"),
            ("mon- 08:00-18:00 UTC max_concurrent_jobs=2", "'mon-' names no days"),
            ("mon,,tue 08:00-18:00 UTC max_concurrent_jobs=2", "names no days"),
            ("mon 8:00-18:00 UTC max_concurrent_jobs=2", "'8:00-18:00' is no time"),
            ("mon 08:00-24:01 UTC max_concurrent_jobs=2", "is no time"),
            ("mon 24:00-08:00 UTC max_concurrent_jobs=2", "is no time"),
            ("mon 08:60-09:00 UTC max_concurrent_jobs=2", "is no time"),
            ("mon +8:00-09:00 UTC max_concurrent_jobs=2", "is no time"),
            ("mon 08:00 UTC max_concurrent_jobs=2", "is no time"),
            ("mon 08:00-18:00 Mars/Olympus max_concurrent_jobs=2", "'Mars/Olympus' is no time zone"),
            ("mon 08:00-18:00 Europe/ max_concurrent_jobs=2", "is no time zone"),
            ("mon 08:00-18:00 europe/berlin max_concurrent_jobs=2", "is no time zone"),
            ("mon 08:00-18:00 CET max_concurrent_jobs=2", "is no time zone"),
            ("mon 08:00-18:00 GMT+1 max_concurrent_jobs=2", "is no time zone"),
            ("mon 08:00-18:00 America/Argentina/Buenos_Aires max_concurrent_jobs=2", nil),
            ("mon 08:00-18:00 +01:00 max_concurrent_jobs=2", "is no time zone"),
            ("mon 08:00-18:00 UTC max_concurrent_jobs=10001", "is no number of jobs"),
            ("mon 08:00-18:00 UTC max_concurrent_jobs=-1", "is no number of jobs"),
            ("mon 08:00-18:00 UTC max_concurrent_jobs=", "is no number of jobs"),
            ("mon 08:00-18:00 UTC max_concurrent_jobs=1 max_concurrent_jobs=2", "is there twice"),
            ("mon 08:00-18:00 UTC rate_limit_bytes_per_second=1025Gi", "is no rate"),
            ("mon 08:00-18:00 UTC rate_limit_bytes_per_second=2T", "is no rate"),
            ("mon 08:00-18:00 UTC rate_limit_bytes_per_second=99999999999999999999", "is no rate"),
            ("mon 08:00-18:00 UTC max_connections_per_host=2", "is no limit"),
            ("mon 08:00-18:00 UTC faster", "is no limit"),
        ] as [(String, String?)])
    func readsItsText(_ text: String, _ fault: String?) throws {
        do throws(ValueFault) {
            let rule = try ScheduleRule(text)
            #expect(fault == nil)
            #expect(try ScheduleRule(rule.description) == rule, "\(rule)")
        } catch {
            let fault = try #require(fault, "\(error.why)")
            #expect(error.why.contains(fault), "\(error.why)")
        }
    }

    @Test func writesItsCanonicalText() throws {
        let rule = try ScheduleRule("SUN,thu,fri-sat 08:00-00:00 America/New_York rate_limit_bytes_per_second=2ki")
        #expect(rule.description == "thu-sun 08:00-24:00 America/New_York rate_limit_bytes_per_second=2048")
        #expect(
            try ScheduleRule("mon,tue,sun 01:05-02:00 UTC max_concurrent_jobs=1").description
                == "mon,tue,sun 01:05-02:00 UTC max_concurrent_jobs=1")
    }
}
