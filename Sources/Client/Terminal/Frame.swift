/// The lines at the bottom of a terminal that are redrawn in place. Finished lines scroll up above them and stay. To avoid
/// flicker, each picture is one write, and no line is blanked before it is redrawn.
struct Frame: Sendable {
    /// The widths of the lines on the screen.
    private var drawn: [Int] = []
    private var hidesCursor = false

    init() {}

    /// The text to write for the next picture.
    ///
    /// - Parameters:
    ///   - lines: must be narrower than the terminal, so that none wraps.
    ///   - finished: lines that stay above the picture permanently.
    mutating func picture(of lines: [String], below finished: [String], columns: Int) -> String {
        var text = (hidesCursor ? "" : Self.cursorHidden) + toTop(columns)
        hidesCursor = true
        for line in finished + lines { text += line + Self.restErased + "\n" }
        text += Self.belowErased
        drawn = lines.map { Columns.count(Self.withoutColours($0)) }
        return text
    }

    /// The text to write at the end: the last lines stay, and the cursor is shown again.
    mutating func ending() -> String {
        defer { (drawn, hidesCursor) = ([], false) }
        return hidesCursor ? Self.cursorShown : ""
    }

    /// Moves the cursor to the first line. A terminal that became narrower has wrapped the lines, so they take more rows.
    private func toTop(_ columns: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
        return "\r\u{1B}[\(rows)A"
    }

    // ECMA-48, sections 8.3.41 (EL) and 8.3.39 (ED); the cursor is DEC's mode 25, which every current terminal supports.
    private static let restErased = "\u{1B}[K"
    private static let belowErased = "\u{1B}[J"
    private static let cursorHidden = "\u{1B}[?25l"
    static let cursorShown = "\u{1B}[?25h"

    static func withoutColours(_ text: String) -> String {
        text.contains("\u{1B}") ? text.replacing(/\u{1B}\[[0-9;]*m/, with: "") : text
    }
}
