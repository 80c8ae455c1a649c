import Locks
import PostgresClient

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

    init(_ target: PostgresTarget, _ reach: ServerReach) { (self.target, self.reach) = (target, reach) }

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
        case .statementFailed(let report, _): report.condition == .notSupported || report.condition == .statementUnknown
        case .targetInvalid, .connectFailed, .rolledBack, .timedOut, .interrupted, .outcomeUnknown, .closed,
            .parameterInvalid, .columnUnreadable:
            false
        }
    }
}
