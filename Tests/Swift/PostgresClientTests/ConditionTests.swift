import PostgresClient
import TestKit
import Testing

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct ConditionTests {
    @Test(arguments: [
        ("23502", PostgresCondition.notNullViolation), ("23503", .foreignKeyViolation), ("23505", .uniqueViolation),
        ("23514", .checkViolation), ("22021", .invalidText), ("25006", .readOnly), ("25P02", .transactionFailed),
        ("26000", .statementUnknown), ("0A000", .notSupported), ("28000", .authenticationFailed),
        ("28P01", .authenticationFailed), ("3D000", .unknownDatabase), ("40001", .serializationFailure),
        ("40P01", .deadlockDetected), ("42501", .permissionDenied), ("42P01", .unknownObject),
        ("42703", .unknownObject),
        ("53100", .diskFull), ("53200", .outOfMemory), ("53300", .tooManyConnections), ("55P03", .lockNotAvailable),
        ("57014", .cancelled), ("57P01", .adminShutdown), ("57P02", .crashShutdown), ("57P03", .cannotConnectNow),
        ("57P05", .idleTimeout), ("58030", .inputOutputError), ("08006", .unreachable), ("P0001", .other),
        ("XX000", .other),
    ])
    func sqlStateHasItsCondition(_ state: String, _ condition: PostgresCondition) async throws {
        let connection = try PostgresServer.shared.connect()
        let error = failure(of: {
            try connection.run("DO $$ BEGIN RAISE EXCEPTION 'said so' USING ERRCODE = '\(state)'; END $$")
        })
        #expect(error == .statementFailed(PostgresReport(condition, sqlState: state, message: "said so"), index: 0))
        #expect(condition.allowsRepetition == ["40001", "40P01"].contains(state))
    }

    @Test func lockTimeoutIsTold() async throws {
        let server = try PostgresServer.shared
        let (holder, other) = (try server.connect(), try server.connect())
        try holder.run("CREATE TABLE IF NOT EXISTS held (id bigint)")
        try holder.run("BEGIN")
        try holder.run("LOCK TABLE held")
        try other.run("BEGIN")
        #expect(failure(of: { try other.run("LOCK TABLE held NOWAIT") })?.report?.condition == .lockNotAvailable)
    }

    @Test func clientThatStopsInATransactionLosesIt() async throws {
        var options = PostgresConnection.Options()
        options.settings["idle_in_transaction_session_timeout"] = "50"
        let connection = try PostgresServer.shared.connect(options)
        let error = failure(of: {
            try connection.run("BEGIN")
            // Returns when the server has closed the connection.
            while true { _ = try connection.waitForNotifications(atMost: .seconds(30)) }
        })
        #expect(error?.isConnectionLost == true && error?.report?.condition == .idleTimeout)
    }

    /// DETAIL quotes the values of the row, which can be secrets.
    @Test func errorsDoNotQuoteRows() async throws {
        let connection = try PostgresServer.shared.connect()
        try connection.run("CREATE TEMPORARY TABLE secrets (secret text PRIMARY KEY CHECK (length(secret) < 8))")
        for text in ["hidden", "hidden", "hidden hidden"] {
            let error = failure(of: { try connection.execute(.init("INSERT INTO secrets VALUES ($1)", [.text(text)])) })
            #expect(error.map { !"\($0)".contains("hidden") } ?? true)
        }
    }
}
