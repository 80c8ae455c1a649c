import CPostgreSQL

/// A connection to a PostgreSQL database over libpq.
///
/// It belongs to one thread at a time, and blocks that thread while the server works; so it must not be used on the threads
/// of Swift's tasks. Every call ends by its deadline.
///
/// Statements that are executed together cost one round trip, and are stored together or not at all. If the connection fails
/// while the server commits, the call throws `outcomeUnknown`: neither a success nor a failure is certain then.
public final class PostgresConnection {
    let wait: SocketWait
    let redaction: Redaction
    var statements: StatementCache
    var received = NotificationBuffer()
    private let timeout: Duration
    private(set) var handle: ConnectionHandle?

    /// All calls throw after this moment; nil: only the options limit a round trip.
    public var deadline: ContinuousClock.Instant?
    /// The round trips since the connection was opened.
    public private(set) var roundTrips = 0

    /// Connects to the first server of the URL that accepts the connection.
    ///
    /// - Parameter interrupt: ends the waits of this connection, also that of this initializer.
    /// - Throws: `connectFailed` with the reason of the last server; `timedOut`, `interrupted`, `statementFailed` if the
    ///   server refused a setting of the session.
    public init(
        to target: PostgresTarget, options: Options = Options(), interrupt: PostgresInterrupt? = nil
    ) throws(PostgresError) {
        wait = SocketWait(interrupt)
        redaction = target.redaction
        statements = StatementCache(limit: options.preparedStatements)
        timeout = options.timeout
        handle = try Self.connect(ConnectionAttempt(target: target, options: options, wait: wait))
        try apply(options.settings)
    }

    private static func connect(_ attempt: ConnectionAttempt) throws(PostgresError) -> ConnectionHandle {
        var last = PostgresError.closed
        for endpoint in attempt.target.endpoints {
            do {
                return try attempt.run(endpoint)
            } catch .interrupted {
                throw .interrupted
            } catch {
                last = error
            }
        }
        throw last
    }

    private func apply(_ settings: [String: String]) throws(PostgresError) {
        guard !settings.isEmpty else { return }
        let names = settings.keys.sorted()
        let statement = PostgresStatement(
            "SELECT set_config(name, value, false) FROM unnest($1, $2) AS settings (name, value)",
            [.textArray(names), .textArray(names.map { settings[$0] })], isPrepared: false)
        _ = try perform([statement], commits: false)
    }

    /// Whether the connection can be used. False after an error that has closed it, and after `close`.
    public var isOpen: Bool { handle != nil }

    /// Such as 150018 for 15.18; 0 when the connection is closed.
    public var serverVersion: Int { handle.map { Int(PQserverVersion($0.raw)) } ?? 0 }

    /// The process of the server that serves this connection; 0 when it is closed.
    public var serverProcess: Int32 { handle.map { PQbackendPID($0.raw) } ?? 0 }

    /// Whether the connection is encrypted.
    public var isEncrypted: Bool { handle.map { PQsslInUse($0.raw) == 1 } ?? false }

    /// Closes the connection. The server rolls an open transaction back.
    public func close() { handle = nil }

    /// For cancelling the statements of this connection from other threads; nil when it is closed.
    public func canceller() -> PostgresCanceller? {
        handle.flatMap { PQgetCancel($0.raw) }.map(PostgresCanceller.init(owning:))
    }

    /// - Parameter limit: shortens the time for this round trip.
    func input(atMost limit: Duration? = nil) throws(PostgresError) -> ConnectionInput {
        guard let handle else { throw .closed }
        let end = ContinuousClock.now + (limit ?? timeout)
        return ConnectionInput(
            handle: handle, wait: wait, deadline: min(end, deadline ?? end), redaction: redaction)
    }

    func countRoundTrip() { roundTrips += 1 }
}

/// It belongs to one thread at a time.
@available(*, unavailable)
extension PostgresConnection: Sendable {}
