import CPostgreSQL

extension PostgresReport {
    /// The error or notice in a result of libpq.
    init(of result: OpaquePointer, _ redaction: Redaction) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        let state = field(cpostgresql_sql_state)
        let message = field(cpostgresql_message) ?? String(cString: PQresultErrorMessage(result))
        self.init(
            PostgresCondition(sqlState: state), sqlState: state, message: redaction.firstLine(of: message),
            constraint: field(cpostgresql_constraint), table: field(cpostgresql_table))
    }

    /// The state of a connection that has failed. The message can have several lines, of which the first one is the cause.
    init(lost connection: ConnectionHandle, _ redaction: Redaction) {
        if let farewell = connection.notices.farewell {
            self = farewell
            return
        }
        let message = redaction.firstLine(of: connection.message)
        self.init(.unreachable, message: message.isEmpty ? "the server closed the connection" : message)
    }
}
