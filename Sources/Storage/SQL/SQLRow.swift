import GRDB

/// A row of a result. Its columns are read by index or by name, as a value of the type that the column has: reading another
/// type, or NULL as a value that is not optional, is a fault of the program.
struct SQLRow {
    private let sqlite: Row

    init(_ sqlite: Row) { self.sqlite = sqlite }

    subscript<Value: SQLValue>(_ column: Int) -> Value { sqlite[column] }
    subscript<Value: SQLValue>(_ column: Int) -> Value? { sqlite[column] }
    subscript<Value: SQLValue>(_ column: String) -> Value { sqlite[column] }
    subscript<Value: SQLValue>(_ column: String) -> Value? { sqlite[column] }
}

extension SQLRow: CustomStringConvertible {
    /// For tests and error messages: the names and values of the columns.
    var description: String { sqlite.description }
}
