import Foundation

/// Times as the API writes them: RFC 3339, UTC, milliseconds (`2019-08-19T15:23:14.250Z`).
extension Date {
    ///
    /// Written by hand: a document of a job has several times, and Foundation's style takes microseconds for each.
    public var rfc3339: String {
        String(unsafeUninitializedCapacity: Self.rfc3339Length) { text in
            writeRFC3339(into: text)
            return Self.rfc3339Length
        }
    }

    static let rfc3339Length = 24

    /// - Parameter text: `rfc3339Length` bytes.
    func writeRFC3339(into text: UnsafeMutableBufferPointer<UInt8>) {
        let (days, rest) = milliseconds.flooredQuotientAndRemainder(86_400_000)
        let (year, month, day) = Self.civilDate(days)
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

    /// Milliseconds since 1970-01-01T00:00:00Z. Times are stored in this form, and every time that fetchd makes has
    /// this precision.
    public var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

    /// The seconds since another time, to the millisecond.
    public func seconds(since other: Date) -> Double { Double(milliseconds - other.milliseconds) / 1000 }

    public init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension Int64 {
    fileprivate func flooredQuotientAndRemainder(_ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// Reads times in RFC 3339.
extension Date {
    /// Reads an RFC 3339 time with or without a fraction, with `Z` or a numeric offset; nil if the text is invalid.
    public init?(rfc3339 text: String) {
        guard let date = Date(readingCommon: text) ?? Date(readingAny: text) else { return nil }
        self = date
    }

    init?(readingAny text: String) {
        guard Self.hasForm(text), let offset = Self.offset(of: text) else { return nil }
        let universal = text.hasSuffix("Z") ? text : String(text.dropLast(Self.offsetLength)) + "Z"
        let styles = [false, true].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
        guard let date = styles.lazy.compactMap({ try? $0.parse(universal) }).first, Self.exists(text) else {
            return nil
        }
        self = date.addingTimeInterval(-offset)
    }

    /// Whether the text has the digits and separators of RFC 3339, section 5.6, up to its offset. Foundation also accepts
    /// years of fewer digits.
    private static func hasForm(_ text: String) -> Bool {
        let form = Array("0000-00-00T00:00:00".utf8)
        let bytes = Array(text.utf8)
        let begins = zip(bytes, form).allSatisfy { $1 == UInt8(ascii: "0") ? $0.isASCIIDigit : $0 == $1 }
        guard bytes.count > form.count, begins else { return false }
        let end = text.hasSuffix("Z") ? 1 : offsetLength
        let fraction = bytes[form.count...].dropLast(end)
        return fraction.isEmpty
            || fraction.first == UInt8(ascii: ".") && fraction.count > 1
                && fraction.dropFirst().allSatisfy(\.isASCIIDigit)
    }

    /// The offset in seconds ahead of UTC. Foundation accepts at most 18 hours, RFC 3339 (section 5.6) up to 23:59.
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

    /// Reads the form that most clients write: UTC, with or without milliseconds. Foundation's style takes 6 µs for it, and a
    /// request can have 10,000 times. nil for every other form, and for every time that does not exist.
    init?(readingCommon text: String) {
        let date = text.utf8.withContiguousStorageIfAvailable { text -> Date? in
            let hasMilliseconds = text.count == Self.rfc3339Length
            guard hasMilliseconds || text.count == 20, text.last == UInt8(ascii: "Z"),
                zip([4, 7, 10, 13, 16], "--T::".utf8).allSatisfy({ text[$0] == $1 }),
                !hasMilliseconds || text[19] == UInt8(ascii: "."),
                let year = Self.number(text[0..<4]), let month = Self.number(text[5..<7]),
                let day = Self.number(text[8..<10]),
                let hour = Self.number(text[11..<13]), let minute = Self.number(text[14..<16]),
                let second = Self.number(text[17..<19]),
                let millisecond = hasMilliseconds ? Self.number(text[20..<23]) : 0,
                // Earlier years are of another calendar.
                year >= 1600, hour < 24, minute < 60, second < 60, day >= 1, (1...12).contains(month),
                day <= Self.daysInMonth(month, of: year)
            else { return nil }
            let minutes = (Self.days(year, month, day) * 24 + hour) * 60 + minute
            return Date(milliseconds: (minutes * 60 + second) * 1000 + millisecond)
        }
        guard case let date?? = date else { return nil }
        self = date
    }

    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard digit.isASCIIDigit else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    private static func daysInMonth(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days from 1970-01-01 to a day of the Gregorian calendar; the inverse of `civilDate`.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // The year begins with March.
        let (year, month) = month >= 3 ? (year, month - 3) : (year - 1, month + 9)
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468
    }
}

extension Duration {
    /// Rounded to milliseconds, the precision in which times are stored.
    public var milliseconds: Int64 { Int64((self / .milliseconds(1)).rounded()) }
    public var seconds: TimeInterval { Double(milliseconds) / 1000 }
}
