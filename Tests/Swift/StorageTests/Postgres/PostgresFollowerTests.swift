import PostgresClient
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres
@testable import StorageSQLite

/// The thread that renews the lease.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct PostgresFollowerTests {
    private static let report = PostgresReport(.unavailable, message: "no answer")
    private static let silent: [PostgresError] = [
        .timedOut, .connectFailed(report), .connectionLost(report), .outcomeUnknown(report),
    ]
    private static let others: [PostgresError] = [
        .rolledBack, .closed, .interrupted, .statementFailed(report, index: 0),
    ]

    /// A renewal is one statement, so if its round trip takes too long, its outcome is unknown.
    @Test(arguments: silent) func serverThatDoesNotAnswerIsSilent(_ error: PostgresError) { #expect(error.isSilence) }

    @Test(arguments: others) func otherErrorsAreNoSilence(_ error: PostgresError) { #expect(!error.isSilence) }

    /// Otherwise it could fill the server's queue of notices while its process is stopped.
    @Test func serverEndsTheConnectionOfAStoppedNode() throws {
        let target = try PostgresTarget(url: try PostgresServer.shared.url())
        let connection = try PostgresConnection(to: target, options: PostgresFollower.options)
        let timeout = try connection.execute(PostgresStatement("SELECT current_setting('tcp_user_timeout')"))
        #expect(try timeout[0].value(0, as: String.self) == "8000")
    }

    /// A pooler in transaction mode delivers none.
    @Test func serverThatDeliversNoNotificationsIsRefused() throws {
        let target = try PostgresTarget(url: try PostgresServer.shared.url())
        let connection = try PostgresConnection(to: target)
        try NotificationCheck.run(on: connection, target)
        let error = #expect(throws: StoreError.self) {
            try NotificationCheck.run(on: connection, target, patience: .zero)
        }
        #expect(error?.description.contains("pool_mode = session") == true)
    }

    /// A store that no caller has closed ends its thread, its connection and its lease when it is released.
    @Test func releasedStoreEndsItsConnections() async throws {
        let (fixture, folder) = (try PostgresFixture(), try TemporaryFolder())
        var options = Store.Options()
        // The name of all connections of this store.
        options.server = .postgres(fixture.url + "&application_name=" + fixture.name)
        options.acceptsUnsafeServer = true
        var store: Store? = try await Store.open(at: folder.path, options: options, time: ManualTime())
        _ = try await store?.jobs(JobQuery())
        let observer = try fixture.connect()
        let query = PostgresStatement(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", [.text(fixture.name)])
        // Of the writer, of a reader and of the follower.
        _ = try await eventually("all connections") {
            try observer.execute(query)[0].value(0, as: Int64.self) >= 3 ? true : nil
        }
        store = nil
        _ = try await eventually("the end of all connections") {
            try observer.execute(query)[0].value(0, as: Int64.self) == 0 ? true : nil
        }
    }
}
