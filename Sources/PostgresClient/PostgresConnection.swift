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

    /// Closes the connection. The server rolls an open transaction back.
    public func close() { handle = nil }

    /// - Parameter limit: shortens the time for this round trip.
    func input(atMost limit: Duration? = nil) throws(PostgresError) -> ConnectionInput {
        guard let handle else { throw .closed }
        let end = ContinuousClock.now + (limit ?? timeout)
        return ConnectionInput(
            handle: handle, wait: wait, deadline: min(end, deadline ?? end), redaction: redaction)
    }
}

@available(*, unavailable)
extension PostgresConnection: Sendable {}

extension PostgresConnection {
    public struct Options: Sendable {
        /// The name that `pg_stat_activity` shows, unless the URL or `PGAPPNAME` has one.
        public var applicationName = "fetchd"
        /// How long one attempt to connect may take, unless the URL or `PGCONNECT_TIMEOUT` says it. A URL with several hosts
        /// allows it for each of them. The lookup of a name is not limited: libpq calls the system's resolver.
        public var connectTimeout: Duration = .seconds(10)
        /// The longest time for connecting, for all servers of the URL together; nil: no such limit. A longer `connect_timeout`
        /// of the URL does not extend it. Each server has an equal part of it, so the connection tries the last server, too.
        public var connectLimit: Duration?
        public var timeout: Duration = .seconds(30)
        /// How many different statements are prepared on a connection. Further ones are parsed each time. 0 for a pooler
        /// that gives each transaction another server connection.
        public var preparedStatements = 500
        /// Refuses a standby, and tries the next host.
        public var requiresPrimary = true
        /// Settings of the session.
        ///
        /// `client_connection_check_interval`: the server ends a statement whose client is gone after at most a second.
        /// `idle_in_transaction_session_timeout`: a client that stops in a transaction holds its locks for at most ten
        /// seconds. Both are in milliseconds.
        public var settings = [
            "client_connection_check_interval": "1000", "idle_in_transaction_session_timeout": "10000",
        ]

        public init() {}
    }
}

extension PostgresConnection {
    /// Executes statements in one round trip and one transaction, and commits.
    ///
    /// - Returns: a result for each statement.
    /// - Throws: `PostgresError`.
    @discardableResult
    public func execute(_ statements: [PostgresStatement]) throws(PostgresError) -> [PostgresResult] {
        try perform(statements, commits: true)
    }

    @discardableResult
    public func execute(_ statement: PostgresStatement) throws(PostgresError) -> PostgresResult {
        try perform([statement], commits: true)[0]
    }

    /// Reads one snapshot of the committed data, in one round trip.
    ///
    /// - Returns: a result for each statement.
    /// - Throws: `statementFailed` also if a statement changes something.
    public func read(_ statements: [PostgresStatement]) throws(PostgresError) -> [PostgresResult] {
        let begin = PostgresTransaction.Mode.snapshot.begin
        do {
            let results = try perform([begin] + statements + [PostgresTransaction.commit], commits: false)
            return Array(results.dropFirst().dropLast())
        } catch .statementFailed(let report, let index) {
            rollBack()
            throw .statementFailed(report, index: max(0, index - 1))
        }
    }

    /// Executes a script of several statements without values, such as a migration, in one transaction.
    public func execute(script: String) throws(PostgresError) {
        guard !script.utf8.contains(0) else { throw .parameterInvalid(why: "the script contains a NUL") }
        let input = try begin()
        var failure: PostgresReport?
        do throws(RoundTripFailure) {
            guard PQsendQuery(input.handle.raw, script) == 1 else { throw input.lost }
            while let result = try input.next() {
                guard result.status == PGRES_FATAL_ERROR else { continue }
                let report = PostgresReport(of: result.raw, redaction)
                guard result.isOfStatement else { throw .lost(report) }
                failure = report
            }
        } catch {
            throw close(after: error, mayBeStored: failure == nil)
        }
        if let failure { throw .statementFailed(failure, index: 0) }
    }
}

extension PostgresConnection {
    /// - Parameter commits: whether the statements end a transaction that may have changed something.
    func perform(_ statements: [PostgresStatement], commits: Bool) throws(PostgresError) -> [PostgresResult] {
        guard !statements.isEmpty else { return [] }
        let encoded = try Self.encode(statements)
        var roundTrip = RoundTrip(try begin())
        do {
            try roundTrip.send(encoded, &self.statements)
            try roundTrip.receive(&self.statements)
        } catch {
            // The server skips a commit after a statement that has failed.
            throw close(after: error, mayBeStored: commits && roundTrip.failure == nil)
        }
        takeNotifications()
        if let failure = roundTrip.failure {
            if failure.report.condition.outdatesStatements { self.statements.removeAll() }
            throw .statementFailed(failure.report, index: failure.index)
        }
        return roundTrip.results
    }

    private static func encode(
        _ statements: [PostgresStatement]
    ) throws(PostgresError) -> [(statement: PostgresStatement, values: EncodedValues)] {
        try statements.map { statement throws(PostgresError) in
            guard !statement.sql.utf8.contains(0) else { throw .parameterInvalid(why: "a statement contains a NUL") }
            return (statement, try EncodedValues(statement.values))
        }
    }

    /// Begins a round trip. A connection that the server has closed meanwhile is noticed before anything is sent.
    private func begin() throws(PostgresError) -> ConnectionInput {
        let input = try input()
        guard ContinuousClock.now < input.deadline else { throw .timedOut }
        do {
            try input.takeArrived()
        } catch {
            throw close(after: error, mayBeStored: false)
        }
        takeNotifications()
        roundTrips += 1
        return input
    }

    /// Closes the connection, because its state is unknown.
    func close(after failure: RoundTripFailure, mayBeStored: Bool) -> PostgresError {
        close()
        switch (failure, mayBeStored) {
        case (.lost(let report), false): return .connectionLost(report)
        case (.lost(let report), true): return .outcomeUnknown(report)
        case (.timedOut, false): return .timedOut
        case (.timedOut, true): return .outcomeUnknown(PostgresReport(.other, message: "no answer in time"))
        case (.interrupted, false): return .interrupted
        case (.interrupted, true): return .outcomeUnknown(PostgresReport(.other, message: "the call was interrupted"))
        }
    }
}

extension PostgresCondition {
    /// Whether the server has other prepared statements than this connection knows. The next call prepares them again.
    public var outdatesStatements: Bool { self == .statementUnknown || self == .notSupported }
}

extension PostgresConnection {
    /// Runs one transaction. It is rolled back unless the body calls `commit`.
    ///
    /// - Throws: what the body throws.
    @discardableResult
    public func transaction<Value, Failure: Error>(
        _ mode: PostgresTransaction.Mode = .readCommitted,
        _ body: (inout PostgresTransaction) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var transaction = PostgresTransaction(self, mode)
        do {
            let value = try body(&transaction)
            transaction.rollBack()
            return value
        } catch {
            transaction.rollBack()
            throw error
        }
    }

    /// A transaction that the caller ends, by `commit` or `rollBack`. Nothing else is executed on the connection until then.
    public func begin(_ mode: PostgresTransaction.Mode = .readCommitted) -> PostgresTransaction {
        PostgresTransaction(self, mode)
    }

    /// A connection that cannot roll back is closed, and then the server does it.
    func rollBack() {
        guard isOpen else { return }
        do {
            _ = try perform([PostgresTransaction.rollback], commits: false)
        } catch {
            close()
        }
    }
}
