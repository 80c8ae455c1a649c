import CPostgreSQL
import Glibc

/// Receives results. It sends what is still to be sent meanwhile: a server that waits for its results to be read does not
/// read further statements.
struct ConnectionInput {
    let handle: ConnectionHandle
    let wait: SocketWait
    let deadline: ContinuousClock.Instant
    let redaction: Redaction

    /// The next result.
    ///
    /// - Returns: nil at the end of the results of a statement.
    func next() throws(RoundTripFailure) -> ResultHandle? {
        var isFlushed = flush()
        while PQisBusy(handle.raw) != 0 {
            let socket = PQsocket(handle.raw)
            guard socket >= 0 else { throw lost }
            let occurred = try wait.wait(socket, for: isFlushed ? POLLIN : POLLIN | POLLOUT, until: deadline)
            if occurred & POLLIN != 0, PQconsumeInput(handle.raw) == 0, PQisBusy(handle.raw) != 0 { throw lost }
            isFlushed = flush()
        }
        guard let raw = PQgetResult(handle.raw) else { return nil }
        return ResultHandle(owning: raw)
    }

    /// Reads what the server has sent between two round trips, without waiting: notifications, or why it has closed the
    /// connection. The end of a connection shows only when everything before it was read.
    ///
    /// - Throws: `lost`.
    func takeArrived() throws(RoundTripFailure) {
        for _ in 0..<Self.mostReads {
            let socket = PQsocket(handle.raw)
            guard socket >= 0 else { throw lost }
            guard wait.isReadable(socket) else { return }
            if PQconsumeInput(handle.raw) == 0 { throw lost }
            // It also passes notices on.
            _ = PQisBusy(handle.raw)
        }
    }

    /// A flood of notifications must not keep the connection from its work.
    private static let mostReads = 100

    /// - Returns: false if something is left to be sent. A connection that has failed has nothing left: its end, and why the
    ///   server has ended it, show when results are read.
    private func flush() -> Bool { PQflush(handle.raw) != 1 }

    var lost: RoundTripFailure { .lost(PostgresReport(lost: handle, redaction)) }
}
