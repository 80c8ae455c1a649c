import PostgresClient
import TestKit

extension PostgresServer {
    /// A connection over the Unix socket.
    func connect(
        _ options: PostgresConnection.Options = .init(), interrupt: PostgresInterrupt? = nil
    ) throws -> PostgresConnection {
        try PostgresConnection(to: PostgresTarget(url: socketURL), options: options, interrupt: interrupt)
    }

    /// Waits until a connection of the server waits for an event: `PgSleep`, `SyncRep` or `relation`.
    func waitUntilSomeone(waitsFor event: String) async throws {
        let observer = try connect()
        _ = try await eventually("a wait for \(event)") {
            let count: Int = try observer.execute(
                PostgresStatement(
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event = $1", [.text(event)])
            )[0].value(0)
            return count > 0 ? true : nil
        }
    }
}

/// The error that the body throws; nil if it throws none.
func failure(of body: () throws -> Void) -> PostgresError? {
    do {
        try body()
        return nil
    } catch {
        return error as? PostgresError
    }
}

extension PostgresError {
    var isOutcomeUnknown: Bool { if case .outcomeUnknown = self { true } else { false } }
    var isConnectionLost: Bool { if case .connectionLost = self { true } else { false } }
    var failedStatement: Int? { if case .statementFailed(_, let index) = self { index } else { nil } }
}

extension PostgresConnection {
    /// The first column of the first row.
    func value<Value: PostgresDecodable>(_ sql: String, _ values: [PostgresValue] = []) throws -> Value {
        try execute(PostgresStatement(sql, values, isPrepared: false))[0].value(0)
    }

    func run(_ sql: String) throws { try execute(PostgresStatement(sql, isPrepared: false)) }
}
