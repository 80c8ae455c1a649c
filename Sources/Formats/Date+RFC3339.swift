import Foundation

/// Times as the API writes them: RFC 3339, UTC, milliseconds (`2019-08-19T15:23:14.250Z`).
extension Date {
    ///
    /// Written by hand: a document of a job has several times, and Foundation's style takes microseconds for each.
    public var rfc3339: String {
        let (days, rest) = milliseconds.flooredQuotientAndRemainder(86_400_000)
        let (year, month, day) = Self.civilDate(days)
        return String(unsafeUninitializedCapacity: 24) { text in
            func write(_ number: Int64, digits: Int, at start: Int, then end: StaticString) {
                var number = number
                for index in stride(from: start + digits - 1, through: start, by: -1) {
                    text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
                    number /= 10
                }
                text[start + digits] = end.utf8Start.pointee
            }
            write(min(max(year, 0), 9999), digits: 4, at: 0, then: "-")
            write(month, digits: 2, at: 5, then: "-")
            write(day, digits: 2, at: 8, then: "T")
            write(rest / 3_600_000, digits: 2, at: 11, then: ":")
            write(rest / 60_000 % 60, digits: 2, at: 14, then: ":")
            write(rest / 1000 % 60, digits: 2, at: 17, then: ".")
            write(rest % 1000, digits: 3, at: 20, then: "Z")
            return 24
        }
    }

    /// The date in the Gregorian calendar, of a count of days since 1970-01-01. The count begins with March, so that the
    /// leap day is the last of its year, and repeats every 400 years.
    private static func civilDate(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, day) = (days + 719_468).flooredQuotientAndRemainder(146_097)
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNextYear = month >= 10
        return (
            era * 400 + year + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    /// Reads an RFC 3339 time with or without a fraction, with `Z` or a numeric offset; nil if the text is invalid.
    public init?(rfc3339 text: String) {
        guard let offset = Self.offset(of: text) else { return nil }
        let universal = text.hasSuffix("Z") ? text : String(text.dropLast(Self.offsetLength)) + "Z"
        let styles = [false, true].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
        guard let date = styles.lazy.compactMap({ try? $0.parse(universal) }).first, Self.exists(text) else {
            return nil
        }
        self = date.addingTimeInterval(-offset)
    }

    /// Seconds ahead of UTC. Foundation accepts at most 18 hours, RFC 3339 (section 5.6) up to 23:59.
    private static func offset(of text: String) -> TimeInterval? {
        if text.hasSuffix("Z") { return 0 }
        let offset = Array(text.suffix(offsetLength))
        guard offset.count == offsetLength, offset[0] == "+" || offset[0] == "-", offset[3] == ":" else { return nil }
        let digits = [1, 2, 4, 5].compactMap { offset[$0].isASCII ? offset[$0].wholeNumberValue : nil }
        guard digits.count == 4 else { return nil }
        let (hours, minutes) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        guard hours < 24, minutes < 60 else { return nil }
        return TimeInterval((hours * 60 + minutes) * 60) * (offset[0] == "-" ? -1 : 1)
    }

    /// The number of characters in an offset such as `+01:00`.
    private static let offsetLength = 6

    /// Whether the day and the hour exist. The style would convert an invalid one to a later time.
    private static func exists(_ text: String) -> Bool {
        let numbers = text.split { !$0.isNumber }.prefix(4).compactMap { Int($0) }
        guard numbers.count == 4, numbers[3] < 24 else { return false }
        return DateComponents(
            calendar: Calendar(identifier: .gregorian), year: numbers[0], month: numbers[1], day: numbers[2]
        ).isValidDate
    }

    /// Milliseconds since 1970-01-01T00:00:00Z. Times are stored in this form, and every time that fetchd makes has
    /// this precision.
    public var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

    /// Seconds since another time, to the millisecond.
    public func seconds(since other: Date) -> Double { Double(milliseconds - other.milliseconds) / 1000 }

    public init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension Int64 {
    fileprivate func flooredQuotientAndRemainder(_ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
