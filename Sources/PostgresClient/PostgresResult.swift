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

    public var columnNames: [String] {
        (0..<PQnfields(handle.raw)).map { PQfname(handle.raw, $0).map { String(cString: $0) } ?? "" }
    }

    var command: String { handle.command }
}

/// A row of a result. Columns are numbered from 0 and decoded when they are read.
public struct PostgresRow: Sendable {
    let result: ResultHandle
    let index: Int32

    /// - Throws: `columnUnreadable` if the column is NULL, has another type, or does not exist.
    public func value<Value: PostgresDecodable>(
        _ column: Int, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        guard let value = try optional(column, as: type) else {
            throw .columnUnreadable(why: "column \(column) is NULL")
        }
        return value
    }

    /// - Returns: nil for NULL.
    /// - Throws: `columnUnreadable` if the column has another type, or does not exist.
    public func optional<Value: PostgresDecodable>(
        _ column: Int, as _: Value.Type = Value.self
    ) throws(PostgresError) -> Value? {
        let column = Int32(clamping: column)
        guard (0..<PQnfields(result.raw)).contains(column) else {
            throw .columnUnreadable(why: "the result has no column \(column)")
        }
        guard PQgetisnull(result.raw, index, column) == 0 else { return nil }
        let bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(result.raw, index, column), count: Int(PQgetlength(result.raw, index, column)))
        let type = PostgresType(oid: PQftype(result.raw, column))
        guard let value = Value(postgres: PostgresField(type: type, bytes: bytes)) else {
            throw .columnUnreadable(why: "column \(column) of type \(type.oid) does not fit \(Value.self)")
        }
        return value
    }
}

/// A value of a row in the binary format. It is valid only during the initializer that it is passed to.
public struct PostgresField {
    let type: PostgresType
    let bytes: UnsafeRawBufferPointer

    func bigEndian<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer? {
        guard bytes.count == MemoryLayout<Integer>.size else { return nil }
        return Integer(bigEndian: bytes.loadUnaligned(as: Integer.self))
    }
}
