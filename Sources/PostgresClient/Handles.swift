import CPostgreSQL

/// A connection of libpq with an owner. It is closed with the last reference to this object.
final class ConnectionHandle {
    let raw: OpaquePointer
    /// libpq keeps a pointer to it.
    let notices: NoticeReceiver

    init(owning raw: OpaquePointer, notices: NoticeReceiver) {
        self.raw = raw
        self.notices = notices
        notices.install(on: raw)
    }

    deinit { PQfinish(raw) }

    var isBad: Bool { PQstatus(raw) == CONNECTION_BAD }

    var message: String { String(cString: PQerrorMessage(raw)) }

    /// A setting that the server reports; nil if it does not report this one.
    func setting(_ name: String) -> String? { PQparameterStatus(raw, name).map { String(cString: $0) } }
}

/// Receives the notices and warnings of the server. Without it, libpq prints them to the standard error.
final class NoticeReceiver {
    private let redaction: Redaction
    /// Why the server ends the connection: it says so in a notice if no statement is under way.
    private(set) var farewell: PostgresReport?

    init(_ redaction: Redaction) { self.redaction = redaction }

    func install(on connection: OpaquePointer) {
        PQsetNoticeReceiver(connection, receiveNotice, Unmanaged.passUnretained(self).toOpaque())
    }

    fileprivate func record(_ result: OpaquePointer) {
        let report = PostgresReport(of: result, redaction)
        if report.condition == .connectionEnded { farewell = report }
    }
}

private func receiveNotice(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
    guard let context, let result else { return }
    Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue().record(result)
}

/// A result of libpq with an owner. libpq never changes a complete result, so threads can share it.
final class ResultHandle: @unchecked Sendable {
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) { self.raw = raw }

    deinit { PQclear(raw) }

    var status: ExecStatusType { PQresultStatus(raw) }

    /// Whether the error ended the statement only, and not the connection.
    var isOfStatement: Bool { PQresultErrorField(raw, cpostgresql_severity).map { String(cString: $0) } == "ERROR" }

    var command: String { String(cString: PQcmdStatus(raw)) }
}
