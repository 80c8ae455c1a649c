import Foundation

/// Times as the API writes them: RFC 3339, UTC, milliseconds (`2019-08-19T15:23:14.250Z`).
extension Date {
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

/// Reads times in RFC 3339, section 5.6. Foundation's style takes 6 µs for a time, and a request can have 10,000. It also
/// accepts years of fewer digits, and no offset above 18 hours.
extension Date {
    /// Reads a time with or without a fraction, with `Z` or a numeric offset; nil if the text is invalid. A leap second is the
    /// next second. Digits below a microsecond are ignored.
    public init?(rfc3339 text: String) {
        var text = text
        guard let date = text.withUTF8(Self.readRFC3339) else { return nil }
        self = date
    }

    private static func readRFC3339(_ text: UnsafeBufferPointer<UInt8>) -> Date? {
        guard text.count >= 20, zip([4, 7, 10, 13, 16], "--T::".utf8).allSatisfy({ text[$0] == $1 }),
            let year = number(text[0..<4]), let month = number(text[5..<7]), let day = number(text[8..<10]),
            let hour = number(text[11..<13]), let minute = number(text[14..<16]), let second = number(text[17..<19]),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = days(year, month, day)
        var (rest, fraction, scale) = (text[19...], Int64(0), Int64(1))
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: \.isASCIIDigit)
            guard !digits.isEmpty, let known = number(digits.prefix(6)) else { return nil }
            (rest, fraction) = (text[digits.endIndex...], known)
            for _ in digits.prefix(6) { scale *= 10 }
        }
        guard civilDate(days) == (year, month, day), let offset = offset(rest) else { return nil }
        let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
        return Date(timeIntervalSince1970: Double(seconds * scale + fraction) / Double(scale))
    }

    /// A time of the Gregorian calendar, in UTC. A day after the end of the month is one of the next month.
    ///
    /// - Parameters:
    ///   - year: 0 to 9999.
    ///   - second: a leap second, 60, is the next second.
    public init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        let days = Self.days(Int64(year), Int64(month), Int64(day))
        self.init(timeIntervalSince1970: Double(((Int(days) * 24 + hour) * 60 + minute) * 60 + second))
    }

    /// The minutes ahead of UTC in `Z` or `+01:00`.
    private static func offset(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        if text.elementsEqual("Z".utf8) { return 0 }
        let start = text.startIndex
        guard text.count == 6, text[start + 3] == UInt8(ascii: ":"), let hours = number(text[start + 1..<start + 3]),
            let minutes = number(text[start + 4..<start + 6]), hours < 24, minutes < 60
        else { return nil }
        switch text[start] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }

    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard digit.isASCIIDigit else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    /// The days from 1970-01-01 to a day of the Gregorian calendar; the inverse of `civilDate`. A day after
    /// the end of the month is one of the next month.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // The year begins with March. 400 years more, which repeat the calendar, keep the divisions above zero.
        let (year, month) = month >= 3 ? (year + 400, month - 3) : (year + 399, month + 9)
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468 - 146_097
    }
}

extension Duration {
    /// Rounded to milliseconds, the precision in which times are stored.
    public var milliseconds: Int64 { Int64((self / .milliseconds(1)).rounded()) }
    public var seconds: TimeInterval { Double(milliseconds) / 1000 }
}
