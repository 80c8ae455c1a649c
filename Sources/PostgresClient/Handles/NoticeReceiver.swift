import CPostgreSQL

/// Receives the notices and warnings of the server. Without it, libpq prints them to the standard error.
final class NoticeReceiver {
    private let redaction: Redaction
    private let receive: (@Sendable (PostgresReport) -> Void)?
    /// Why the server ends the connection: it says so in a notice if no statement is under way.
    private(set) var farewell: PostgresReport?

    init(_ redaction: Redaction, _ receive: (@Sendable (PostgresReport) -> Void)?) {
        self.redaction = redaction
        self.receive = receive
    }

    func install(on connection: OpaquePointer) {
        PQsetNoticeReceiver(connection, receiveNotice, Unmanaged.passUnretained(self).toOpaque())
    }

    fileprivate func note(_ result: OpaquePointer) {
        let report = PostgresReport(of: result, redaction)
        if report.condition.endsConnection { farewell = report }
        receive?(report)
    }
}

extension PostgresCondition {
    fileprivate var endsConnection: Bool {
        [.adminShutdown, .crashShutdown, .idleTimeout].contains(self)
    }
}

private func receiveNotice(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
    guard let context, let result else { return }
    Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue().note(result)
}
