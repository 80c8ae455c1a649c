/// Inserts rows of one table: fifty with one statement, and a remainder one by one, so that a connection prepares two
/// statements only. A statement costs as much as several rows.
struct RowInsertion {
    private let single: String
    private let set: String

    /// - Parameter target: the table and its columns, as in SQL.
    init(_ target: StaticString, columns: Int) {
        let row = "(" + Array(repeating: "?", count: columns).joined(separator: ", ") + ")"
        single = "INSERT INTO \(target) VALUES " + row
        set =
            "INSERT INTO \(target) VALUES "
            + Array(repeating: row, count: Self.rowsInAStatement).joined(separator: ", ")
    }

    private static let rowsInAStatement = 50

    /// The rows of each statement.
    static func chunks<Element>(_ rows: [Element]) -> [ArraySlice<Element>] {
        let inSets = rows.count - rows.count % rowsInAStatement
        let starts = Array(stride(from: 0, to: inSets, by: rowsInAStatement))
        return starts.map { rows[$0..<$0 + rowsInAStatement] } + rows.indices[inSets...].map { rows[$0...$0] }
    }

    /// - Parameters:
    ///   - values: of one chunk, row by row.
    ///   - rows: the number of rows in the chunk.
    func run(_ values: [(any SQLValue)?], rows: Int, in transaction: Transaction) throws {
        try transaction.run(rows == 1 ? single : set, SQLArguments(values))
    }
}
