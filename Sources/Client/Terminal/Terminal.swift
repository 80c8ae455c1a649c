import Foundation
import Glibc

struct Terminal: Sendable {
    private let descriptor: Int32
    /// The descriptor is a terminal whose cursor can be moved.
    let isInteractive: Bool
    let usesColour: Bool
    let isUnicode: Bool

    init(_ stream: OutputDescriptor, environment: [String: String] = ProcessInfo.processInfo.environment) {
        descriptor = stream.number
        isInteractive = isatty(stream.number) == 1 && environment["TERM"] != "dumb"
        // https://no-color.org: any value except the empty string disables colours.
        usesColour = isInteractive && environment["NO_COLOR", default: ""].isEmpty
        // The first variable that is set decides (POSIX, section 8.2).
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        isUnicode = locale.uppercased().contains("UTF-8") || locale.uppercased().contains("UTF8")
    }

    /// The present size, because the window may be resized; 80 by 24 if it is unknown.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// The process is in the foreground of its terminal. True also if this is not the process's controlling terminal.
    var isInFront: Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    func printable(_ text: String) -> String { Printable(text, isUnicode: isUnicode || !isInteractive).description }

    func coloured(_ text: String, _ colour: Colour) -> String {
        usesColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    func colouredState(_ text: String, _ state: String) -> String {
        switch state {
        case "succeeded", "acknowledged", "enabled": coloured(text, .green)
        case "failed", "exhausted", "disabled": coloured(text, .red)
        case "running", "active": coloured(text, .cyan)
        case "waiting", "paused", "pending", "finishing": coloured(text, .yellow)
        default: coloured(text, .faint)
        }
    }

    /// Codes of ECMA-48, section 8.3.117.
    enum Colour: Int, Sendable {
        case bold = 1
        case faint = 2
        case red = 31
        case green = 32
        case yellow = 33
        case cyan = 36
    }
}

enum Columns {
    static func count(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + width($1) } }

    /// The text in exactly `width` columns: padded with spaces, or cut in the middle, where names differ least.
    static func fitted(_ text: String, to width: Int, filling: Bool = true) -> String {
        let count = count(text)
        if count <= width { return filling ? text + String(repeating: " ", count: width - count) : text }
        guard width > 3 else { return fitted(prefix(text, width), to: width, filling: filling) }
        let tail = (width - 2) / 3
        let cut = prefix(text, width - 2 - tail) + ".." + suffix(text, tail)
        return filling ? fitted(cut, to: width) : cut
    }

    private static func prefix(_ text: String, _ width: Int) -> String {
        var rest = width
        return String(
            text.prefix { character in
                rest -= count(String(character))
                return rest >= 0
            })
    }

    private static func suffix(_ text: String, _ width: Int) -> String {
        String(prefix(String(text.reversed()), width).reversed())
    }

    /// East Asian wide characters take two columns (Unicode, UAX #11).
    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0..<0x300: return 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default:
            let category = scalar.properties.generalCategory
            return category == .nonspacingMark || category == .enclosingMark ? 0 : 1
        }
    }
}

/// Text that is safe for a terminal, on one line. Names and messages come from servers, so characters that would move the
/// cursor, change colours or reverse the writing direction are replaced.
struct Printable: CustomStringConvertible, Sendable {
    let description: String

    /// - Parameter isUnicode: false if the terminal shows only ASCII.
    init(_ text: String, isUnicode: Bool = true) {
        guard text.unicodeScalars.contains(where: { !Self.isFit($0, isUnicode) }) else {
            description = text
            return
        }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(Self.isFit(scalar, isUnicode) ? scalar : "?") }
        description = String(scalars)
    }

    private static func isFit(_ scalar: Unicode.Scalar, _ isUnicode: Bool) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        guard isUnicode else { return false }
        switch scalar.properties.generalCategory {
        // The format characters include the marks that change the writing direction.
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }
}

enum DisplayFormat {
    /// A size in binary units: 1.5 MiB.
    static func bytes(_ count: Int64) -> String { bytes(Double(count)) }

    static func bytes(_ count: Double) -> String {
        guard count >= 1024 else { return "\(Int(count)) B" }
        var value = count / 1024
        var unit = 0
        while value >= 1000, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return String(format: value < 9.95 ? "%.1f %@" : "%.0f %@", value, units[unit])
    }

    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    static func rate(_ bytesPerSecond: Double) -> String { bytes(bytesPerSecond) + "/s" }

    /// A duration: 0:07, 1:02:03, 2d 03h.
    static func duration(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds.rounded(.up), 0), 1e10))
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
        if hours >= 48 { return String(format: "%dd %02dh", hours / 24, hours % 24) }
        if hours > 0 { return String(format: "%d:%02d:%02d", hours, minutes, rest) }
        return String(format: "%d:%02d", minutes, rest)
    }

    /// A whole percentage, rounded down: 100% means complete.
    static func percent(_ fraction: Double) -> String { "\(Int(min(max(fraction, 0), 1) * 100))%" }

    /// A time of the service without its fraction of a second. It is still valid RFC 3339.
    static func time(_ text: String) -> String {
        guard let dot = text.firstIndex(of: ".") else { return text }
        return String(text[..<dot] + text[dot...].drop { $0 == "." || $0.isNumber })
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
