/// A table with headings. If the terminal is too narrow, the last column is cut, because it has the longest texts. If that is
/// not enough, dispensable columns are left out. If that is not enough either, the last column has lines of its own.
struct Table: Sendable {
    struct Column: Sendable {
        var title: String
        var isRightAligned = false
        var isDispensable = false
    }

    /// A text, and the state that determines its colour.
    struct Cell: Sendable {
        var text: String
        var state: String?

        init(_ text: String, state: String? = nil) {
            self.text = text
            self.state = state
        }
    }

    private let columns: [Column]
    private var rows: [[Cell]] = []

    init(_ columns: Column...) { self.columns = columns }

    mutating func add(_ cells: Cell...) { rows.append(cells) }

    /// - Parameter width: the width of the terminal; nil: no limit.
    func lines(on terminal: Terminal, width: Int?) -> [String] {
        let texts = rows.map { row in row.map { terminal.printable($0.text) } }
        var widths = columns.indices.map { column in
            max(Columns.count(columns[column].title), texts.map { Columns.count($0[column]) }.max() ?? 0)
        }
        var shown = Array(columns.indices)
        guard let width else { return lines(shown, widths, texts, terminal) }
        var room: Int { width - 1 - shown.dropLast().reduce(0) { $0 + widths[$1] + 2 } }
        let wanted = min(Self.leastOfLast, widths[widths.count - 1])
        while room < wanted, let column = shown.lastIndex(where: { columns[$0].isDispensable }) {
            shown.remove(at: column)
        }
        guard room < wanted, shown.count > 1 else {
            widths[widths.count - 1] = min(widths[widths.count - 1], max(1, room))
            return lines(shown, widths, texts, terminal)
        }
        let last = texts.map { "  " + Columns.fitted($0[columns.count - 1], to: max(1, width - 3), filling: false) }
        let others = lines(Array(shown.dropLast()), widths, texts, terminal)
        return [others[0]] + zip(others.dropFirst(), last).flatMap { [$0, $1] }
    }

    /// The width of the last column, so that names stay recognizable.
    private static let leastOfLast = 16

    private func lines(_ shown: [Int], _ widths: [Int], _ texts: [[String]], _ terminal: Terminal) -> [String] {
        let head = line(columns.map(\.title), shown, widths) { text, _ in terminal.coloured(text, .bold) }
        return [head]
            + zip(rows, texts).map { row, texts in
                line(texts, shown, widths) { text, column in
                    row[column].state.map { terminal.colouredState(text, $0) } ?? text
                }
            }
    }

    /// Formats a line. Colours are added after the texts are fitted, because control sequences have no width.
    private func line(
        _ texts: [String], _ shown: [Int], _ widths: [Int], _ coloured: (String, Int) -> String
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
