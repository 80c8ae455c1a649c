import Foundation

/// Sizes and durations as people write them: in options, environment variables, configuration files and schedules. The API
/// has plain numbers instead.
public enum Quantity {
    /// A number of bytes: `500000`, `500K`, `1.5G`, `2Mi`. K, M, G and T are powers of 1,000; Ki, Mi, Gi and Ti are powers of
    /// 1,024. A fraction needs a unit.
    ///
    /// - Returns: nil for any other text, and if the number does not fit.
    public static func bytes(_ text: some StringProtocol) -> Int64? {
        guard let (number, unit) = split(text) else { return nil }
        guard !unit.isEmpty else { return Int64(number) }
        guard let factor = sizes[unit.lowercased()] else { return nil }
        if let whole = Int64(number) {
            let (bytes, overflow) = whole.multipliedReportingOverflow(by: factor)
            return overflow ? nil : bytes
        }
        return Double(number).flatMap { Int64(exactly: ($0 * Double(factor)).rounded(.down)) }
    }

    /// A number of seconds: `90`, `1.5`, `90s`, `15m`, `8h`, `30d`, `2w`.
    ///
    /// - Returns: nil for any other text.
    public static func seconds(_ text: some StringProtocol) -> Double? {
        guard let (number, unit) = split(text), let factor = unit.isEmpty ? 1 : durations[unit] else { return nil }
        let seconds = (Double(number) ?? .infinity) * factor
        return seconds.isFinite ? seconds : nil
    }

    /// Digits, maybe with a fraction, and the rest.
    private static func split(_ text: some StringProtocol) -> (number: String, unit: String)? {
        let bytes = Array(text.utf8)
        var end = bytes.prefix(while: \.isASCIIDigit).count
        guard end > 0 else { return nil }
        if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            let fraction = bytes[(end + 1)...].prefix(while: \.isASCIIDigit).count
            guard fraction > 0 else { return nil }
            end += 1 + fraction
        }
        return (String(decoding: bytes[..<end], as: UTF8.self), String(decoding: bytes[end...], as: UTF8.self))
    }

    /// Capitals do not matter.
    private static let sizes: [String: Int64] = [
        "k": 1000, "m": 1_000_000, "g": 1_000_000_000, "t": 1_000_000_000_000, "ki": 1 << 10, "mi": 1 << 20,
        "gi": 1 << 30, "ti": 1 << 40,
    ]
    private static let durations: [String: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
}

/// Moments as people write them.
extension Date {
    /// A moment: RFC 3339, `HH:MM` (the next time that the clocks show it), or `YYYY-MM-DD HH:MM`.
    ///
    /// - Parameter zone: of the forms without an offset. A time that its clocks skip is as much later.
    /// - Returns: nil for any other text, and for a day that does not exist.
    public init?(moment text: String, now: Date, zone: TimeZone = .current) {
        if let exact = Date(rfc3339: text) {
            self = exact
            return
        }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let time = parts.last, time.utf8.count == 5, parts.count <= 2 else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let day = parts.count == 2 ? String(parts[0]) : Self.day(of: now, in: calendar)
        // The reader of RFC 3339 checks the day and the time.
        guard Date(rfc3339: "\(day)T\(time):00Z") != nil, let moment = Self.moment(day, time, in: calendar) else {
            return nil
        }
        guard parts.count == 1, moment <= now else {
            self = moment
            return
        }
        let tomorrow = calendar.date(byAdding: .day, value: 1, to: now).map { Self.day(of: $0, in: calendar) }
        guard let next = tomorrow.flatMap({ Self.moment($0, time, in: calendar) }) else { return nil }
        self = next
    }

    private static func day(of instant: Date, in calendar: Calendar) -> String {
        let day = calendar.dateComponents([.year, .month, .day], from: instant)
        return "\((day.year ?? 0).digits(4))-\((day.month ?? 0).digits(2))-\((day.day ?? 0).digits(2))"
    }

    private static func moment(_ day: String, _ time: Substring, in calendar: Calendar) -> Date? {
        let numbers = (day.split(separator: "-") + time.split(separator: ":")).compactMap { Int($0) }
        guard numbers.count == 5 else { return nil }
        return calendar.date(
            from: DateComponents(
                year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4]))
    }
}
