import GRDB

/// A row of a result. Its columns are read by index or by name, as a value of the type that the column has: reading another
/// type, or NULL as a value that is not optional, is a fault of the program.
struct SQLRow {
    private enum Source {
        case sqlite(Row)
        case postgres(PostgresResultRow)
    }

    private let source: Source

    init(_ row: Row) { source = .sqlite(row) }
    init(_ row: PostgresResultRow) { source = .postgres(row) }

    subscript<Value: SQLValue>(_ column: Int) -> Value {
        switch source {
        case .sqlite(let row): row[column]
        case .postgres(let row): row.value(column)
        }
    }

    subscript<Value: SQLValue>(_ column: Int) -> Value? {
        switch source {
        case .sqlite(let row): row[column]
        case .postgres(let row): row.optional(column)
        }
    }

    subscript<Value: SQLValue>(_ column: String) -> Value {
        switch source {
        case .sqlite(let row): row[column]
        case .postgres(let row): row.value(column)
        }
    }

    subscript<Value: SQLValue>(_ column: String) -> Value? {
        switch source {
        case .sqlite(let row): row[column]
        case .postgres(let row): row.optional(column)
        }
    }
}

extension SQLRow: CustomStringConvertible {
    /// For tests and error messages: the names and values of the columns.
    var description: String {
        switch source {
        case .sqlite(let row): row.description
        case .postgres(let row): row.description
        }
    }
}
