import PostgresClient
import TestKit
import Testing

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct InterruptTests {
    @Test func interruptEndsTheWaitAndClosesTheConnection() async throws {
        let server = try PostgresServer.shared
        let interrupt = try PostgresInterrupt()
        async let failed = OwnThread.run {
            let connection = try server.connect(interrupt: interrupt)
            let error = failure(of: { _ = try connection.read([.init("SELECT pg_sleep(601)")]) })
            return (error, connection.isOpen)
        }
        let observer = try server.connect()
        _ = try await eventually("the statement") { try observer.sees("pg_sleep(601)") ? true : nil }
        interrupt.interrupt()
        let (error, isOpen) = try await failed
        #expect(error == .interrupted && !isOpen)
        #expect(failure(of: { _ = try server.connect(interrupt: interrupt) }) == .interrupted)
        // The server ends the statement of a client that is gone.
        _ = try await eventually("the end of the statement") { try observer.sees("pg_sleep(601)") ? nil : true }
    }
}

extension PostgresConnection {
    /// Whether another connection runs this statement now.
    fileprivate func sees(_ call: String) throws -> Bool {
        try execute(
            .init(
                "SELECT 1 FROM pg_stat_activity WHERE query = $1 AND wait_event = 'PgSleep'", [.text("SELECT \(call)")])
        ).isEmpty == false
    }
}
