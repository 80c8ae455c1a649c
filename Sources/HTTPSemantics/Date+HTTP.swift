import Foundation

extension Date {
    /// Reads an HTTP date (RFC 9110, section 5.6.7) in any of its forms: `Sun, 06 Nov 1994 08:49:37 GMT`, and the
    /// obsolete `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    public init?(httpDate text: String) {
        let words = text.split { $0 == " " || $0 == "-" }
        let parts: (day: Substring, month: Substring, year: Substring, time: Substring)
        switch words.count {
        case 6 where words[5] == "GMT": parts = (words[1], words[2], words[3], words[4])
        case 5: parts = (words[2], words[1], words[4], words[3])
        default: return nil
        }
        guard let day = Int(parts.day), 1...31 ~= day, let year = Self.year(parts.year),
            let month = Self.months.firstIndex(of: String(parts.month))
        else { return nil }
        let clock = parts.time.split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3, 0...23 ~= clock[0], 0...59 ~= clock[1], 0...60 ~= clock[2],
            let zone = TimeZone(secondsFromGMT: 0)
        else { return nil }
        let components = DateComponents(
            calendar: Calendar(identifier: .gregorian), timeZone: zone, year: year, month: month + 1, day: day,
            hour: clock[0], minute: clock[1], second: clock[2])
        guard let date = components.date else { return nil }
        self = date
    }

    /// A two-digit year is 20xx if it is below 70, otherwise 19xx.
    private static func year(_ text: Substring) -> Int? {
        guard let year = Int(text), year >= 0 else { return nil }
        return text.count == 2 ? year + (year < 70 ? 2000 : 1900) : year
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
