/// A small terminal: the part of ECMA-48 that fetchd uses, and wrapped lines. It shows what a user would see.
public struct TerminalScreen {
    private var columns: Int
    private var cells: [[Character]] = [[]]
    private var (row, column) = (0, 0)
    public private(set) var hidesCursor = false

    public init(columns: Int) {
        self.columns = columns
    }

    /// The lines without empty ones at the end.
    public var lines: [String] {
        var lines = cells.map { String($0).replacing(/\ +$/, with: "") }
        while lines.last?.isEmpty ?? false { lines.removeLast() }
        return lines
    }

    public mutating func take(_ text: String) {
        var rest = text[...]
        // "\r\n" is one character in Swift, but two operations here.
        while let scalar = rest.unicodeScalars.first {
            if let match = rest.prefixMatch(of: /\u{1B}\[(\??[0-9]*)([A-Za-z])/) {
                control(String(match.2), String(match.1))
                rest = rest[match.range.upperBound...]
                continue
            }
            rest = Substring(rest.unicodeScalars.dropFirst())
            switch scalar {
            case "\r": column = 0
            case "\n": nextRow()
            default: put(Character(scalar))
            }
        }
    }

    /// Lines wider than the window wrap, as in most modern terminals.
    public mutating func resize(to columns: Int) {
        self.columns = columns
        let wrapped = cells.map { line in
            stride(from: 0, to: max(line.count, 1), by: columns).map {
                Array(line[min($0, line.count)..<min($0 + columns, line.count)])
            }
        }
        row = wrapped.prefix(row).reduce(0) { $0 + $1.count }
        cells = wrapped.flatMap(\.self)
    }

    private mutating func control(_ code: String, _ argument: String) {
        switch (code, argument) {
        case ("A", _): row = max(0, row - (Int(argument) ?? 1))
        case ("K", _): cells[row] = Array(cells[row].prefix(column))
        case ("J", _):
            cells[row] = Array(cells[row].prefix(column))
            cells = Array(cells.prefix(row + 1))
        case ("l", "?25"): hidesCursor = true
        case ("h", "?25"): hidesCursor = false
        default: break
        }
    }

    private mutating func put(_ character: Character) {
        if column == columns {
            nextRow()
            column = 0
        }
        while cells[row].count <= column { cells[row].append(" ") }
        cells[row][column] = character
        column += 1
    }

    /// The terminal driver adds the carriage return to a program's output.
    private mutating func nextRow() {
        row += 1
        column = 0
        if row == cells.count { cells.append([]) }
    }
}
