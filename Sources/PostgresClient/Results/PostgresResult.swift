import CPostgreSQL

/// The rows that a statement has returned, in their order.
public struct PostgresResult: Sendable, RandomAccessCollection {
    private let handle: ResultHandle

    init(_ handle: ResultHandle) { self.handle = handle }

    public var startIndex: Int { 0 }
    public var endIndex: Int { Int(PQntuples(handle.raw)) }

    public subscript(index: Int) -> PostgresRow {
        precondition(indices.contains(index), "the result has no row \(index)")
        return PostgresRow(result: handle, index: Int32(index))
    }

    /// The number of rows that the statement has inserted, updated, deleted or returned.
    public var affectedRows: Int { Int(String(cString: PQcmdTuples(handle.raw))) ?? 0 }

    /// The number of the column with this name; nil if there is none.
    public func column(named name: String) -> Int? {
        (0..<PQnfields(handle.raw)).first { String(cString: PQfname(handle.raw, $0)) == name }.map(Int.init)
    }

    /// The names of the columns, in their order.
    public var columnNames: [String] {
        (0..<PQnfields(handle.raw)).map { PQfname(handle.raw, $0).map { String(cString: $0) } ?? "" }
    }

    /// Such as `COMMIT` or `ROLLBACK`.
    var command: String { handle.command }
}
