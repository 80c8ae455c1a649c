import CPostgreSQL

/// A result of libpq with an owner. libpq never changes a complete result, so threads can share it.
final class ResultHandle: @unchecked Sendable {
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) { self.raw = raw }

    deinit { PQclear(raw) }

    var status: ExecStatusType { PQresultStatus(raw) }

    /// Whether the error ended the statement only, and not the connection.
    var isOfStatement: Bool {
        PQresultErrorField(raw, cpostgresql_severity).map { String(cString: $0) } == "ERROR"
    }

    /// Such as `COMMIT` or `UPDATE`.
    var command: String { String(cString: PQcmdStatus(raw)) }
}
