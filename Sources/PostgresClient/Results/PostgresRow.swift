import CPostgreSQL

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
