import PostgresClient

/// A row of a result, whose columns are found by name as well. A value that cannot be read is a fault of the program.
struct PostgresResultRow {
    /// The result, and the numbers of its columns as far as they were looked for.
    final class Columns {
        let result: PostgresResult
        private var numbers: [String: Int?] = [:]

        init(_ result: PostgresResult) { self.result = result }

        func number(of name: String) -> Int? {
            if let known = numbers[name] { return known }
            let number = result.column(named: name)
            numbers[name] = .some(number)
            return number
        }
    }

    private let columns: Columns
    private let row: PostgresRow

    static func rows(of result: PostgresResult) -> [PostgresResultRow] {
        let columns = Columns(result)
        return result.map { PostgresResultRow(columns: columns, row: $0) }
    }

    func value<Value: SQLValue>(_ column: Int) -> Value {
        do { return try row.value(column) } catch { fatalError("\(error)") }
    }

    func optional<Value: SQLValue>(_ column: Int) -> Value? {
        do { return try row.optional(column) } catch { fatalError("\(error)") }
    }

    func value<Value: SQLValue>(_ name: String) -> Value {
        guard let number = columns.number(of: name) else { fatalError("the result has no column \(name)") }
        return value(number)
    }

    /// - Returns: nil also if there is no such column.
    func optional<Value: SQLValue>(_ name: String) -> Value? { columns.number(of: name).flatMap { optional($0) } }
}

extension PostgresResultRow: CustomStringConvertible {
    /// Bytes are shown by their number.
    var description: String {
        let values = columns.result.columnNames.enumerated().map { "\($1):\(text($0))" }
        return "[\(values.joined(separator: " "))]"
    }

    private func text(_ column: Int) -> String {
        if let number = try? row.optional(column, as: Int64.self) { return "\(number)" }
        if let text = try? row.optional(column, as: String.self) { return "\"\(text)\"" }
        if let number = try? row.optional(column, as: Double.self) { return "\(number)" }
        if let flag = try? row.optional(column, as: Bool.self) { return "\(flag)" }
        if let bytes = try? row.optional(column, as: [UInt8].self) { return "\(bytes.count) bytes" }
        return "NULL"
    }
}
