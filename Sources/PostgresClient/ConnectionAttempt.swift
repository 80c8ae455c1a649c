import CPostgreSQL
import Glibc

struct ConnectionAttempt {
    let target: PostgresTarget
    let options: PostgresConnection.Options
    let wait: SocketWait

    /// - Parameter endpoint: the parameters of the server.
    /// - Throws: `connectFailed`, `timedOut`, `interrupted`.
    func run(_ endpoint: [String: String]) throws(PostgresError) -> ConnectionHandle {
        let deadline = ContinuousClock.now + timeout
        let raw = ConnectionParameters.withArrays(parameters(of: endpoint)) { PQconnectStartParams($0, $1, 0) }
        guard let raw else { throw .connectFailed(PostgresReport(.unavailable, message: "no memory for a connection")) }
        let handle = ConnectionHandle(owning: raw, notices: NoticeReceiver(target.redaction))
        // The message then has the SQLSTATE, which libpq does not tell otherwise.
        PQsetErrorVerbosity(raw, PQERRORS_VERBOSE)
        do {
            try poll(handle, until: deadline)
        } catch .lost(let report) {
            throw .connectFailed(report)
        } catch .timedOut {
            throw .timedOut
        } catch {
            throw .interrupted
        }
        PQsetnonblocking(raw, 1)
        try require(handle)
        return handle
    }

    private var timeout: Duration {
        let timeout = target.connectTimeout ?? options.connectTimeout
        return options.connectLimit.map { min(timeout, $0 / target.endpoints.count) } ?? timeout
    }

    private func poll(_ handle: ConnectionHandle, until deadline: ContinuousClock.Instant) throws(RoundTripFailure) {
        if handle.isBad { throw .lost(report(of: handle)) }
        var wished = POLLOUT
        while true {
            // The socket changes when libpq tries the next address of the host.
            _ = try wait.wait(PQsocket(handle.raw), for: wished, until: deadline)
            switch PQconnectPoll(handle.raw) {
            case PGRES_POLLING_OK: return
            case PGRES_POLLING_READING: wished = POLLIN
            case PGRES_POLLING_WRITING: wished = POLLOUT
            default: throw .lost(report(of: handle))
            }
        }
    }

    /// - Throws: `connectFailed` if the server is too old, or is a standby.
    private func require(_ handle: ConnectionHandle) throws(PostgresError) {
        let version = PQserverVersion(handle.raw)
        guard version >= Self.leastVersion else {
            throw .connectFailed(
                PostgresReport(
                    .other, message: "the server is PostgreSQL \(version / 10_000); fetchd needs 14 or later"))
        }
        guard options.requiresPrimary, handle.setting("in_hot_standby") == "on" else { return }
        throw .connectFailed(PostgresReport(.readOnly, message: "the server is a standby"))
    }

    /// The first version with `client_connection_check_interval`, and that reports `in_hot_standby`.
    private static let leastVersion: Int32 = 140_000

    /// The user's own parameters come first. TCP sends a probe after 10 s without traffic. Lost probes, and bytes that are not
    /// acknowledged for 10,000 ms, end the connection.
    private func parameters(of endpoint: [String: String]) -> [String: String] {
        let ours = [
            "client_encoding": "UTF8", "fallback_application_name": options.applicationName, "keepalives_idle": "10",
            "keepalives_interval": "3", "keepalives_count": "3", "tcp_user_timeout": "10000",
        ].filter { $0.key == "client_encoding" || !target.has($0.key) }
        return target.parameters.merging(endpoint) { $1 }.merging(ours) { $1 }
    }

    /// libpq's message has a line for each address that it tried, such as
    /// `connection to server at "::1", port 5432 failed: FATAL:  28P01: password ...`, and further lines.
    private func report(of handle: ConnectionHandle) -> PostgresReport {
        let lines = handle.message.split(whereSeparator: \.isNewline)
        let line = lines.last { $0.hasPrefix("connection to") } ?? lines.first ?? "libpq gave no reason"
        let state = lines.lazy.compactMap { $0.firstMatch(of: /:  ([0-9A-Z]{5}):/) }.map { String($0.1) }.last
        let message = target.redaction.firstLine(of: String(line))
        let condition = state.map { PostgresCondition(sqlState: $0) } ?? PostgresCondition(refusal: message)
        return PostgresReport(condition, sqlState: state, message: message)
    }
}
