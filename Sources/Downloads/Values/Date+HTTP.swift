import Foundation

extension Date {
    /// An HTTP date (RFC 9110, section 5.6.7): the preferred form, `Sun, 06 Nov 1994 08:49:37 GMT`.
    public init?(httpDate text: String) {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
            let month = Self.months.firstIndex(of: String(words[2]))
        else { return nil }
        let clock = words[4].split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3, let zone = TimeZone(secondsFromGMT: 0) else { return nil }
        let components = DateComponents(
            calendar: Calendar(identifier: .gregorian), timeZone: zone, year: year, month: month + 1, day: day,
            hour: clock[0], minute: clock[1], second: clock[2])
        guard let date = components.date else { return nil }
        self = date
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
