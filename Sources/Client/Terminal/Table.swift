/// A table with headings. If the terminal is too narrow, the last column is cut, because it has the longest texts. If that is
/// not enough, dispensable columns are left out. If that is not enough either, the last column has lines of its own.
struct Table<Row> {
    /// A heading, and the text below it for each row. The state of a row determines the colour of the text.
    struct Column {
        let title: String
        let isRightAligned: Bool
        let isDispensable: Bool
        let state: ((Row) -> String)?
        let text: (Row) -> String

        init(
            _ title: String, isRightAligned: Bool = false, isDispensable: Bool = false,
            state: ((Row) -> String)? = nil, text: @escaping (Row) -> String
        ) {
            self.title = title
            self.isRightAligned = isRightAligned
            self.isDispensable = isDispensable
            self.state = state
            self.text = text
        }
    }

    private let rows: [Row]
    private let columns: [Column]

    init(_ rows: [Row], _ columns: Column...) {
        self.rows = rows
        self.columns = columns
    }

    /// - Parameter width: the width of the terminal; nil: no limit.
    func lines(on terminal: Terminal, width: Int?) -> [String] {
        let texts = rows.map { row in columns.map { terminal.printable($0.text(row)) } }
        var widths = columns.indices.map { column in
            max(Columns.count(columns[column].title), texts.map { Columns.count($0[column]) }.max() ?? 0)
        }
        var shown = Array(columns.indices)
        guard let width else { return lines(of: shown, widths: widths, texts: texts, on: terminal) }
        var room: Int { width - 1 - shown.dropLast().reduce(0) { $0 + widths[$1] + 2 } }
        let wanted = min(Self.leastOfLast, widths[widths.count - 1])
        while room < wanted, let column = shown.lastIndex(where: { columns[$0].isDispensable }) {
            shown.remove(at: column)
        }
        guard room < wanted, shown.count > 1 else {
            widths[widths.count - 1] = min(widths[widths.count - 1], max(1, room))
            return lines(of: shown, widths: widths, texts: texts, on: terminal)
        }
        let last = texts.map { "  " + Columns.fitted($0[columns.count - 1], to: max(1, width - 3), filling: false) }
        let others = lines(of: Array(shown.dropLast()), widths: widths, texts: texts, on: terminal)
        return [others[0]] + zip(others.dropFirst(), last).flatMap { [$0, $1] }
    }

    /// The width of the last column, so that names stay recognizable.
    private static var leastOfLast: Int { 16 }

    private func lines(of shown: [Int], widths: [Int], texts: [[String]], on terminal: Terminal) -> [String] {
        let head = line(columns.map(\.title), of: shown, widths: widths) { text, _ in terminal.coloured(text, .bold) }
        return [head]
            + zip(rows, texts).map { row, texts in
                line(texts, of: shown, widths: widths) { text, column in
                    columns[column].state.map { terminal.colouredState(text, $0(row)) } ?? text
                }
            }
    }

    /// Formats a line. Colours are added after the texts are fitted, because control sequences have no width.
    private func line(
        _ texts: [String], of shown: [Int], widths: [Int], coloured: (String, Int) -> String
    ) -> String {
        shown.map { column in
            let isLast = column == shown.last
            var text = Columns.fitted(texts[column], to: widths[column], filling: false)
            let padding = String(repeating: " ", count: widths[column] - Columns.count(text))
            if columns[column].isRightAligned { text = padding + text } else if !isLast { text += padding }
            return coloured(text, column)
        }.joined(separator: "  ")
    }
}

/// Lines of names and values.
struct FieldList: Sendable {
    private var lines: [(name: String, value: String)] = []

    /// Adds a line, unless the value is nil or empty.
    mutating func add(_ name: String, _ value: String?) {
        if let value, !value.isEmpty { lines.append((name, value)) }
    }

    func text(on terminal: Terminal) -> String {
        let width = lines.map(\.name.count).max() ?? 0
        return lines.map { line in
            let name = Columns.fitted(line.name, to: width)
            return "\(terminal.coloured(name, .faint))  \(terminal.printable(line.value))\n"
        }.joined()
    }
}
