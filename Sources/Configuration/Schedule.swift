import Formats
import Foundation

/// Limits of the service by hour and weekday.
///
/// A rule is active from the beginning to the end of each of its windows. For each limit, the first active rule that sets
/// it decides. Where no active rule sets a limit, the setting of the service applies.
public struct Schedule: Sendable, Equatable {
    public let rules: [ScheduleRule]

    public static let mostRules = 32

    public init(_ rules: [ScheduleRule] = []) { self.rules = rules }

    /// The limits at an instant, and when they change next.
    ///
    /// It looks 15 days ahead: a window of a day of the week can be missing once, where the clocks skip it.
    public func limits(at instant: Date) -> ScheduledLimits {
        guard !rules.isEmpty else { return ScheduledLimits() }
        let windows = rules.map { $0.windows(around: instant) }
        // Some windows after it are known, too, so that the last window before it does not end without a successor.
        let horizon = instant.addingTimeInterval(15 * 86_400)
        let now = limits(at: instant, windows)
        let ends = windows.joined().flatMap { [$0.lowerBound, $0.upperBound] }.filter { $0 > instant && $0 < horizon }
        let change = Set(ends).sorted().first { limits(at: $0, windows) != now }
        return ScheduledLimits(limits: now, until: change)
    }

    private func limits(at instant: Date, _ windows: [[Range<Date>]]) -> ScheduleLimits {
        var limits = ScheduleLimits()
        for (rule, windows) in zip(rules, windows) where windows.contains(where: { $0.contains(instant) }) {
            limits.fill(from: rule.limits)
        }
        return limits
    }
}

public struct ScheduledLimits: Sendable, Equatable {
    public var limits = ScheduleLimits()
    /// When the limits change next; nil: never.
    public var until: Date?
}

public struct ScheduleLimits: Sendable, Equatable {
    /// Bytes per second of all transfers together. 0: no limit. nil: the schedule does not say.
    public var rateLimit: Int64?
    /// 0 to 10,000. 0: no job begins. nil: the schedule does not say.
    public var maxConcurrentJobs: Int?

    mutating func fill(from other: ScheduleLimits) {
        rateLimit = rateLimit ?? other.rateLimit
        maxConcurrentJobs = maxConcurrentJobs ?? other.maxConcurrentJobs
    }
}

/// Limits for a time of some days of the week: `mon-fri 08:00-18:00 Europe/Berlin max_concurrent_jobs=2`.
///
/// The window of a day begins and ends when the clocks of the time zone show its times first. A time that the clocks skip
/// is the moment at which they skip it. So each window occurs once, also where the clocks are set back, and windows that
/// adjoin each other leave no gap.
public struct ScheduleRule: Sendable, Equatable {
    public var days: Set<Weekday>
    /// Minutes after midnight, 0 to 1,439.
    public var start: Int
    /// Minutes after midnight, 1 to 1,440. If it is not after `start`, the window ends on the next day.
    public var end: Int
    public var zone: TimeZone
    /// As it was given: Foundation has other names for some zones (`GMT` for `UTC`).
    public var zoneName: String
    public var limits: ScheduleLimits

    /// The windows from two days before an instant to 17 days after it, the earliest first.
    func windows(around instant: Date) -> [Range<Date>] {
        let today = zone.day(at: instant)
        return (today - 2...today + 17).compactMap { day in
            guard days.contains(Weekday(ofDay: day)) else { return nil }
            let begin = zone.instant(day: day, minute: start)
            let finish = zone.instant(day: day, minute: end > start ? end : end + Self.minutesOfDay)
            return begin < finish ? begin..<finish : nil
        }
    }

    static let minutesOfDay = 1440
}

/// The text of a rule: days, times, time zone and limits, separated by blanks.
///
///     mon-fri 08:00-18:00 Europe/Berlin rate_limit_bytes_per_second=1M max_concurrent_jobs=2
extension ScheduleRule {
    public init(_ text: String) throws(ValueFault) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count >= 4 else {
            throw ValueFault(
                "it needs days, times, a time zone and limits, such as mon-fri 08:00-18:00 Europe/Berlin max_concurrent_jobs=2"
            )
        }
        days = try Self.days(words[0])
        (start, end) = try Self.times(words[1])
        zone = try Self.zone(words[2])
        zoneName = words[2]
        limits = try Self.limits(words[3...])
    }

    private static func days(_ text: String) throws(ValueFault) -> Set<Weekday> {
        if text.lowercased() == daily { return Set(Weekday.allCases) }
        var days: Set<Weekday> = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = item.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count <= 2, let first = Weekday(rawValue: ends[0].lowercased()),
                let last = Weekday(rawValue: ends[ends.count - 1].lowercased())
            else {
                throw ValueFault(
                    "'\(text)' names no days; days are mon, tue, wed, thu, fri, sat, sun, ranges such as mon-fri, lists such as sat,sun, or daily"
                )
            }
            // fri-mon goes over the end of the week.
            let length = (last.index - first.index + 7) % 7
            for step in 0...length { days.insert(Weekday.allCases[(first.index + step) % 7]) }
        }
        return days
    }

    private static let daily = "daily"

    private static func times(_ text: String) throws(ValueFault) -> (start: Int, end: Int) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { minutes($0) }
        guard ends.count == 2, let start = ends[0], let end = ends[1], start < minutesOfDay, end <= minutesOfDay else {
            throw ValueFault("'\(text)' is no time; it takes HH:MM-HH:MM, from 00:00 to 24:00, such as 22:00-06:00")
        }
        guard start != end else {
            throw ValueFault("'\(text)' begins and ends at the same time; a whole day is 00:00-24:00")
        }
        // 00:00 as an end is the end of the day.
        return (start, end == 0 ? minutesOfDay : end)
    }

    private static func minutes(_ text: Substring) -> Int? {
        let digits = text.utf8.filter { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }.count
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard text.utf8.count == 5, digits == 4, parts.count == 2, parts[0].utf8.count == 2,
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60
        else { return nil }
        return hour * 60 + minute
    }

    private static func zone(_ text: String) throws(ValueFault) -> TimeZone {
        // Foundation also knows offsets such as GMT+1, and abbreviations.
        guard text == utc || text.contains("/"), let zone = TimeZone(identifier: text) else {
            throw ValueFault(
                "'\(text)' is no time zone; it takes names of the IANA database, such as Europe/Berlin or UTC")
        }
        return zone
    }

    private static let utc = "UTC"

    private static func limits(_ words: ArraySlice<String>) throws(ValueFault) -> ScheduleLimits {
        var limits = ScheduleLimits()
        for word in words {
            guard let sign = word.firstIndex(of: "=") else { throw unknown(word) }
            let name = SettingName(rawValue: String(word[..<sign]))
            let value = word[word.index(after: sign)...]
            switch name {
            case .rateLimit where limits.rateLimit == nil: limits.rateLimit = try rate(value, word)
            case .maxConcurrentJobs where limits.maxConcurrentJobs == nil:
                limits.maxConcurrentJobs = try jobs(value, word)
            case .rateLimit, .maxConcurrentJobs: throw ValueFault("\(name.rawValue) is there twice")
            default: throw unknown(word)
            }
        }
        return limits
    }

    private static func unknown(_ word: String) -> ValueFault {
        ValueFault(
            "'\(word)' is no limit; limits are rate_limit_bytes_per_second=N and max_concurrent_jobs=N, without blanks")
    }

    private static func rate(_ text: Substring, _ word: String) throws(ValueFault) -> Int64 {
        guard let bytes = Quantity.bytes(text), bytes <= 1 << 40 else {
            throw ValueFault(
                "'\(word)' is no rate; it takes bytes per second such as 500K or 2Mi, at most 1Ti, or 0 for no limit")
        }
        return bytes
    }

    private static func jobs(_ text: Substring, _ word: String) throws(ValueFault) -> Int {
        guard let number = number(text), number <= 10_000 else {
            throw ValueFault("'\(word)' is no number of jobs; it takes 0 to 10000, and with 0 no job begins")
        }
        return Int(number)
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int64(text) : nil
    }
}

extension ScheduleRule: CustomStringConvertible {
    public var description: String {
        var words = [dayText, "\(Self.text(start))-\(Self.text(end))", zoneName]
        if let rate = limits.rateLimit { words.append("\(SettingName.rateLimit.rawValue)=\(rate)") }
        if let jobs = limits.maxConcurrentJobs { words.append("\(SettingName.maxConcurrentJobs.rawValue)=\(jobs)") }
        return words.joined(separator: " ")
    }

    private static func text(_ minutes: Int) -> String {
        [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    /// Days that follow each other as a range.
    private var dayText: String {
        if days.count == 7 { return Self.daily }
        var ranges: [(first: Weekday, last: Weekday)] = []
        for day in Weekday.allCases where days.contains(day) {
            if let last = ranges.last?.last, last.index + 1 == day.index {
                ranges[ranges.count - 1].last = day
            } else {
                ranges.append((day, day))
            }
        }
        return ranges.map { range in
            switch range.last.index - range.first.index {
            case 0: range.first.rawValue
            case 1: "\(range.first.rawValue),\(range.last.rawValue)"
            case _: "\(range.first.rawValue)-\(range.last.rawValue)"
            }
        }.joined(separator: ",")
    }
}

/// Converts between instants and what the clocks of a time zone show. A day is the number of days since 1970-01-01.
extension TimeZone {
    /// The date that the clocks show.
    func day(at instant: Date) -> Int {
        Int(((instant.timeIntervalSince1970 + offset(at: instant)) / Self.secondsOfDay).rounded(.down))
    }

    /// The first instant at which the clocks show a time; the moment of the change, if they skip it.
    ///
    /// - Parameter minute: minutes after midnight. 1,440 and more are on the next day.
    func instant(day: Int, minute: Int) -> Date {
        // The clock reading, as if the clocks showed UTC.
        let reading = Double(day) * Self.secondsOfDay + Double(minute) * 60
        let before = offset(at: Date(timeIntervalSince1970: reading - Self.secondsOfDay))
        let after = offset(at: Date(timeIntervalSince1970: reading + Self.secondsOfDay))
        let candidates = [reading - max(before, after), reading - min(before, after)]
        for candidate in candidates {
            let instant = Date(timeIntervalSince1970: candidate)
            if candidate + offset(at: instant) == reading { return instant }
        }
        return change(from: candidates[0], to: candidates[1])
    }

    /// The first second with another offset than `start`.
    private func change(from start: Double, to end: Double) -> Date {
        let before = offset(at: Date(timeIntervalSince1970: start))
        var (low, high) = (start, end)
        while high - low > 1 {
            let middle = ((low + high) / 2).rounded()
            if offset(at: Date(timeIntervalSince1970: middle)) == before { low = middle } else { high = middle }
        }
        return Date(timeIntervalSince1970: high)
    }

    private func offset(at instant: Date) -> Double { Double(secondsFromGMT(for: instant)) }

    private static let secondsOfDay = 86_400.0
}

/// A day of the week, in the order of ISO 8601.
public enum Weekday: String, Sendable, CaseIterable {
    case mon, tue, wed, thu, fri, sat, sun

    /// - Parameter day: days since 1970-01-01, a Thursday.
    init(ofDay day: Int) {
        let index = (day % 7 + 7 + 3) % 7
        self = Self.allCases[index]
    }

    var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
