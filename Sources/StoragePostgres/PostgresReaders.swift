import Base
import PostgresClient
import Storage

/// The connections that read: as many as reads run at the same time.
final class PostgresReaders: Sendable {
    private struct State: ~Copyable {
        var idle: [Reader] = []
        var isClosed = false
        var reads = 0
    }

    /// One thread uses it at a time.
    private final class Reader: @unchecked Sendable {
        let connection: PostgresConnection
        let interrupt: PostgresInterrupt
        let dialect = PostgresDialect()

        init(_ target: PostgresTarget, _ interrupt: PostgresInterrupt) throws(PostgresError) {
            self.interrupt = interrupt
            var options = PostgresConnection.Options()
            options.applicationName = "fetchd reader"
            options.plansForIndexes()
            connection = try PostgresConnection(to: target, options: options, interrupt: interrupt)
        }
    }

    private let target: PostgresTarget
    private let reach: ServerReach
    private let state = Locked(State())

    init(_ target: PostgresTarget, _ reach: ServerReach) {
        self.target = target
        self.reach = reach
    }

    var statements: Int { state.withLock { $0.reads } }

    /// If the server has closed a connection meanwhile, it has probably closed all, so the second attempt has a new one.
    func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value {
        do {
            return try attempt(body)
        } catch let error as PostgresError where error.allowsSecondRead {
            if case .connectionLost = error { closeIdle() }
            return try attempt(body)
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        closeIdle()
    }

    private func closeIdle() {
        state.withLock { state in
            for reader in state.idle { reader.connection.close() }
            state.idle = []
        }
    }

    private func attempt<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value {
        let reader = try take()
        defer { giveBack(reader) }
        let session = PostgresSession(reader.connection, reader.dialect, .snapshot)
        defer { session.rollBack() }
        return try body(SQLConnection(session))
    }

    private func take() throws(PostgresError) -> Reader {
        let interrupt = try reach.interruptOfConnection()
        let idle = try state.withLock { state throws(PostgresError) -> Reader? in
            guard !state.isClosed else { throw .closed }
            state.reads += 1
            state.idle.removeAll { $0.interrupt !== interrupt }
            return state.idle.popLast()
        }
        if let idle { return idle }
        return try Reader(target, interrupt)
    }

    private func giveBack(_ reader: Reader) {
        guard reader.connection.isOpen, reach.isCurrent(reader.interrupt) else { return reader.connection.close() }
        state.withLock { state in
            if state.isClosed { reader.connection.close() } else { state.idle.append(reader) }
        }
    }
}

extension PostgresError {
    /// Whether the same read can succeed at once, on another connection or with statements that are prepared again.
    fileprivate var allowsSecondRead: Bool {
        switch self {
        case .connectionLost: true
        case .statementFailed(let report, _): report.condition.outdatesStatements
        case .targetInvalid, .connectFailed, .rolledBack, .timedOut, .interrupted, .outcomeUnknown, .closed,
            .parameterInvalid, .columnUnreadable:
            false
        }
    }
}

/// Whether the server answers. After it has not answered for the time after which others take over, nothing waits for it: present waits end, and
/// new calls fail at once.
///
/// A server that is paused, or a network that drops packets, closes no connection. Without this, each request would wait for the
/// timeout of its round trip.
final class ServerReach: Sendable {
    /// Those of the connections that were opened since the server answered; nil: it does not answer.
    private let interrupt: Locked<PostgresInterrupt?>

    init() throws(PostgresError) { interrupt = Locked(try PostgresInterrupt()) }

    /// Ends the waits of a new connection when the server does not answer any more.
    ///
    /// - Throws: `PostgresError.timedOut` if it does not answer now.
    func interruptOfConnection() throws(PostgresError) -> PostgresInterrupt {
        guard let current = interrupt.withLock(\.self) else { throw .timedOut }
        return current
    }

    /// Whether the server has answered since a connection with this interrupt was opened.
    func isCurrent(_ other: PostgresInterrupt) -> Bool { interrupt.withLock { $0 === other } }

    /// The server did not answer in time.
    func noteSilence() { interrupt.withLock { $0.take() }?.interrupt() }

    /// The server has answered.
    func noteAnswer() throws(PostgresError) {
        guard interrupt.withLock({ $0 == nil }) else { return }
        let new = try PostgresInterrupt()
        interrupt.withLock { $0 = $0 ?? new }
    }
}
