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
