import Formats

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

    init(_ rows: [Row], _ columns: [Column]) {
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
    private func line(_ texts: [String], of shown: [Int], widths: [Int], coloured: (String, Int) -> String) -> String {
        shown.map { column in
            let isLast = column == shown.last
            var text = Columns.fitted(texts[column], to: widths[column], filling: false)
            let padding = String(repeating: " ", count: widths[column] - Columns.count(text))
            if columns[column].isRightAligned { text = padding + text } else if !isLast { text += padding }
            return coloured(text, column)
        }.joined(separator: "  ")
    }
}

struct FieldList: Sendable {
    private var lines: [(name: String, value: String)] = []

    init() {}

    init(_ document: JSON, _ members: KeyValuePairs<String, Member>) { add(document, members) }

    mutating func add(_ document: JSON, _ members: KeyValuePairs<String, Member>) {
        for (name, member) in members { add(name, member.text(document)) }
    }

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

// MARK: - Members of documents

/// How a command shows a member of a document. A literal is the path of a member that is shown as it is.
struct Member: ExpressibleByStringLiteral, Sendable {
    /// nil if there is nothing to show.
    let text: @Sendable (JSON) -> String?

    init(_ text: @escaping @Sendable (JSON) -> String?) { self.text = text }

    init(stringLiteral path: String) { self.init { $0.shown(path) } }

    static func time(_ path: String) -> Member { Member { $0.shown(path).map(DisplayFormat.time) } }

    /// - Parameter form: makes the text of the number.
    static func number(_ path: String, _ form: @escaping @Sendable (Double) -> String) -> Member {
        Member { $0.value(path)?.numberValue.map(form) }
    }

    /// The texts of several members.
    static func joined(_ members: Member..., separator: String = ", ") -> Member {
        Member { document in members.compactMap { $0.text(document) }.joined(separator: separator) }
    }
}

extension JSON {
    /// - Parameter path: names of members, such as `statistics.pending`.
    func value(_ path: String) -> JSON? { path.split(separator: ".").reduce(self) { $0?[String($1)] } }

    /// A text, a number, or the texts of a list; nil for null and for a member that does not exist.
    func shown(_ path: String) -> String? {
        switch value(path) {
        case nil, .null: nil
        case .string(let text): text
        case .array(let texts): texts.compactMap(\.stringValue).joined(separator: ", ")
        case let value?: value.written
        }
    }
}

extension Table<JSON>.Column {
    /// - Parameter absent: the text of a row without the member.
    init(
        _ title: String, _ member: Member, or absent: String = "", isRightAligned: Bool = false,
        isDispensable: Bool = false
    ) {
        self.init(title, isRightAligned: isRightAligned, isDispensable: isDispensable) { member.text($0) ?? absent }
    }

    static var state: Table<JSON>.Column {
        Table<JSON>.Column("STATE", state: { $0.shown("state") ?? "" }, text: { $0.shown("state") ?? "" })
    }
}
