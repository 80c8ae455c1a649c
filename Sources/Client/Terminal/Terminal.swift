import Foundation
import Glibc

/// The capabilities of the terminal at a descriptor.
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

    func printable(_ text: String) -> String {
        Printable(text, isUnicode: isUnicode || !isInteractive).description
    }

    func coloured(_ text: String, _ colour: Colour) -> String {
        usesColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Colours a text by the meaning of a state.
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
