import PostgresClient
import TestKit
import Testing

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct ConditionTests {
    @Test(arguments: [
        ("23502", PostgresCondition.dataRefused), ("23503", .dataRefused), ("23505", .dataRefused),
        ("23514", .dataRefused), ("22021", .dataRefused), ("25006", .readOnly), ("25P02", .unavailable),
        ("26000", .statementUnknown), ("0A000", .notSupported), ("28000", .accessRefused), ("28P01", .accessRefused),
        ("3D000", .accessRefused), ("40001", .conflict), ("40P01", .conflict), ("42501", .accessRefused),
        ("42P01", .unknownObject), ("42703", .unknownObject), ("53100", .diskFull), ("53200", .unavailable),
        ("53300", .unavailable), ("55P03", .unavailable), ("57014", .unavailable), ("57P01", .connectionEnded),
        ("57P02", .connectionEnded), ("57P03", .unavailable), ("57P05", .connectionEnded), ("58030", .unavailable),
        ("08006", .unavailable), ("P0001", .other), ("XX000", .other),
    ])
    func sqlStateHasItsCondition(_ state: String, _ condition: PostgresCondition) async throws {
        let connection = try PostgresServer.shared.connect()
        let error = failure(of: {
            try connection.run("DO $$ BEGIN RAISE EXCEPTION 'said so' USING ERRCODE = '\(state)'; END $$")
        })
        #expect(error == .statementFailed(PostgresReport(condition, sqlState: state, message: "said so"), index: 0))
    }

    @Test func lockTimeoutIsTold() async throws {
        let server = try PostgresServer.shared
        let (holder, other) = (try server.connect(), try server.connect())
        try holder.run("CREATE TABLE IF NOT EXISTS held (id bigint)")
        try holder.run("BEGIN")
        try holder.run("LOCK TABLE held")
        try other.run("BEGIN")
        #expect(failure(of: { try other.run("LOCK TABLE held NOWAIT") })?.report?.sqlState == "55P03")
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
        #expect(error?.isConnectionLost == true && error?.report?.condition == .connectionEnded)
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
