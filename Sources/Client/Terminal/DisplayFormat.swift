import Foundation

/// Sizes and times as people read them.
enum DisplayFormat {
    /// In binary units, as most tools beside this one: 1.5 MiB.
    static func bytes(_ count: Int64) -> String { bytes(Double(count)) }

    static func bytes(_ count: Double) -> String {
        guard count >= 1024 else { return "\(Int(count)) B" }
        var (value, unit) = (count / 1024, 0)
        while value >= 1000, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
        return String(format: value < 9.95 ? "%.1f %@" : "%.0f %@", value, units[unit])
    }

    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    static func rate(_ bytesPerSecond: Double) -> String { bytes(bytesPerSecond) + "/s" }

    /// 0:07, 1:02:03, 2d 03h.
    static func duration(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds.rounded(.up), 0), 1e10))
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
        if hours >= 48 { return String(format: "%dd %02dh", hours / 24, hours % 24) }
        if hours > 0 { return String(format: "%d:%02d:%02d", hours, minutes, rest) }
        return String(format: "%d:%02d", minutes, rest)
    }

    /// Whole percents, of which 100 is told only when it is so.
    static func percent(_ fraction: Double) -> String { "\(Int(min(max(fraction, 0), 1) * 100))%" }

    /// The service's times without their fraction: what is left is read, and still RFC 3339.
    static func time(_ text: String) -> String {
        guard let dot = text.firstIndex(of: ".") else { return text }
        return String(text[..<dot] + text[dot...].drop { $0 == "." || $0.isNumber })
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
