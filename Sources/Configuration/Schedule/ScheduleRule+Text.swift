import Formats
import Foundation

/// The text of a rule: days, times, time zone and limits, separated by blanks.
///
///     mon-fri 08:00-18:00 Europe/Berlin rate_limit_bytes_per_second=1M max_concurrent_jobs=2
extension ScheduleRule {
    public init(_ text: String) throws(ScheduleFault) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count >= 4 else {
            throw ScheduleFault(
                "it needs days, times, a time zone and limits, such as mon-fri 08:00-18:00 Europe/Berlin max_concurrent_jobs=2"
            )
        }
        days = try Self.days(words[0])
        (start, end) = try Self.times(words[1])
        (zone, zoneName) = (try Self.zone(words[2]), words[2])
        limits = try Self.limits(words[3...])
    }

    // MARK: Days

    private static func days(_ text: String) throws(ScheduleFault) -> Set<Weekday> {
        if text.lowercased() == daily { return Set(Weekday.allCases) }
        var days: Set<Weekday> = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = item.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count <= 2, let first = Weekday(rawValue: ends[0].lowercased()),
                let last = Weekday(rawValue: ends[ends.count - 1].lowercased())
            else {
                throw ScheduleFault(
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

    // MARK: Times

    private static func times(_ text: String) throws(ScheduleFault) -> (start: Int, end: Int) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { minutes($0) }
        guard ends.count == 2, let start = ends[0], let end = ends[1], start < minutesOfDay, end <= minutesOfDay else {
            throw ScheduleFault("'\(text)' is no time; it takes HH:MM-HH:MM, from 00:00 to 24:00, such as 22:00-06:00")
        }
        guard start != end else {
            throw ScheduleFault("'\(text)' begins and ends at the same time; a whole day is 00:00-24:00")
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

    // MARK: Time zone

    private static func zone(_ text: String) throws(ScheduleFault) -> TimeZone {
        // Foundation also knows offsets such as GMT+1, and abbreviations.
        guard text == utc || text.contains("/"), let zone = TimeZone(identifier: text) else {
            throw ScheduleFault(
                "'\(text)' is no time zone; it takes names of the IANA database, such as Europe/Berlin or UTC")
        }
        return zone
    }

    private static let utc = "UTC"

    // MARK: Limits

    private static func limits(_ words: ArraySlice<String>) throws(ScheduleFault) -> ScheduleLimits {
        var limits = ScheduleLimits()
        for word in words {
            guard let sign = word.firstIndex(of: "="), let name = SettingName(rawValue: String(word[..<sign])) else {
                throw unknown(word)
            }
            let value = word[word.index(after: sign)...]
            switch name {
            case .rateLimit where limits.rateLimit == nil: limits.rateLimit = try rate(value, word)
            case .maxConcurrentJobs where limits.maxConcurrentJobs == nil:
                limits.maxConcurrentJobs = try jobs(value, word)
            case .rateLimit, .maxConcurrentJobs: throw ScheduleFault("\(name.rawValue) is there twice")
            case .maxConnectionsPerHost, .schedule, .allowNetwork, .denyNetwork, .allowWebhookNetwork,
                .allowOriginHost, .denyOriginHost, .allowOriginPort, .minimumFreeBytes, .maxFileSize,
                .resumeDataMaxBytes, .maxParts, .eventRetention, .unacknowledgedRetention, .finishedRetention,
                .logLevel:
                throw unknown(word)
            }
        }
        return limits
    }

    private static func unknown(_ word: String) -> ScheduleFault {
        ScheduleFault(
            "'\(word)' is no limit; limits are rate_limit_bytes_per_second=N and max_concurrent_jobs=N, without blanks")
    }

    private static func rate(_ text: Substring, _ word: String) throws(ScheduleFault) -> Int64 {
        guard let bytes = Quantity.bytes(text), bytes <= 1 << 40 else {
            throw ScheduleFault(
                "'\(word)' is no rate; it takes bytes per second such as 500K or 2Mi, at most 1Ti, or 0 for no limit")
        }
        return bytes
    }

    private static func jobs(_ text: Substring, _ word: String) throws(ScheduleFault) -> Int {
        guard let number = number(text), number <= 10_000 else {
            throw ScheduleFault("'\(word)' is no number of jobs; it takes 0 to 10000, and with 0 no job begins")
        }
        return Int(number)
    }

    /// Digits only, without a sign.
    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int64(text) : nil
    }
}

// MARK: - Writing

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
