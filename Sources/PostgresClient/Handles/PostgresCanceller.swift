import CPostgreSQL

/// Asks the server to end the statement that a connection runs. The statement then fails with the condition `cancelled`, and
/// the connection can be used again.
///
/// Any thread may use it, also after the connection is closed.
public final class PostgresCanceller: @unchecked Sendable {
    private let raw: OpaquePointer

    /// Takes ownership of the result of `PQgetCancel`.
    init(owning raw: OpaquePointer) { self.raw = raw }

    deinit { PQfreeCancel(raw) }

    /// Sends the request over a connection of its own, without TLS: libpq before version 17 cannot encrypt it.
    ///
    /// It blocks until the server has read the request: without a limit if the server has stopped answering. So call it on a
    /// thread that may block, and not to end a wait; `PostgresInterrupt` does that.
    ///
    /// - Returns: whether the request was sent. The statement may have ended before.
    @discardableResult
    public func cancel() -> Bool {
        var message = [CChar](repeating: 0, count: 256)
        return PQcancel(raw, &message, Int32(message.count)) == 1
    }
}
