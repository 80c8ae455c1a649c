import Downloads
import Glibc
import PostgresClient
import TestKit
import Testing

@testable import Storage

/// One service at a time has the tables.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct PostgresPossessionTests {
    private let fixture: PostgresFixture
    private let engine: PostgresEngine

    init() throws {
        fixture = try PostgresFixture()
        engine = try Self.engine(fixture)
    }

    private static func engine(_ fixture: PostgresFixture) throws -> PostgresEngine {
        try PostgresEngine(url: fixture.url, requiresDurability: false)
    }

    private static func change(_ engine: PostgresEngine) throws {
        _ = try engine.commit { db, _ in try db.run("UPDATE sessions SET created_at = created_at + 1") }
    }

    private static func isLost(_ error: (any Error)?) -> Bool {
        if case .databaseLost? = (error as? CommitFailure)?.error { true } else { false }
    }

    @Test func secondServiceIsRefused() throws {
        let error = #expect(throws: StoreError.self) { try Self.engine(fixture) }
        guard case .databaseInUse? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try Self.change(engine)
    }

    @Test func databaseIsFreeAfterAnEnd() async throws {
        engine.close()
        try Self.change(try await engineWhenFree())
        #expect(throws: CommitFailure.self) { try Self.change(engine) }
    }

    @Test func connectsAgainWithoutALoss() throws {
        try Self.change(engine)
        engine.writer.disconnect()
        try Self.change(engine)
        try engine.watch()
    }

    /// The server does not notice that the client has closed the connection, because its process is stopped.
    @Test func waitsForItsOwnFormerConnection() async throws {
        let other = try fixture.connect()
        let find = PostgresStatement(
            """
            SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
                AND CAST(objid AS bigint) = CAST(hashtext(current_schema()) AS bigint) & 4294967295
            """)
        let holder = try #require(try other.execute(find).first).value(0, as: Int.self)
        kill(pid_t(holder), SIGSTOP)
        defer { kill(pid_t(holder), SIGCONT) }
        engine.writer.disconnect()
        async let isCommitted: Void = OwnThread.run { [engine] in try Self.change(engine) }
        let waiting = PostgresStatement(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'fetchd writer'")
        let before = try other.execute(waiting).first?.value(0, as: Int.self) ?? 0
        _ = try await eventually("the new connection") {
            try (other.execute(waiting).first?.value(0, as: Int.self) ?? 0) >= before ? true : nil
        }
        kill(pid_t(holder), SIGCONT)
        try await isCommitted
        try engine.watch()
    }

    /// Another service had the database for a moment. The memory of the first one does not fit the database any more.
    @Test func changeOfAnotherServiceIsALossForEver() async throws {
        engine.writer.disconnect()
        let other = try await engineWhenFree()
        try Self.change(other)
        other.close()
        #expect(throws: StoreError.self) { try engine.watch() }
        for _ in 0..<2 {
            let error = #expect(throws: CommitFailure.self) { try Self.change(engine) }
            #expect(Self.isLost(error))
        }
    }

    /// Another machine may have the key: a missing one is not lost, as it is beside an SQLite file.
    @Test func aMissingKeyIsNotGivenUp() async throws {
        var options = Store.Options()
        options.server = try PostgresFixture().url
        options.acceptsUnsafeServer = true
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        try await Store.open(at: folders[0].path, options: options, time: ManualTime()).close()
        let error = try await eventually("the end of the former connection") { () -> StoreError? in
            do {
                try await Store.open(at: folders[1].path, options: options, time: ManualTime()).close()
                return .failed(why: "the store was opened")
            } catch let error as StoreError {
                if case .databaseInUse = error { return nil }
                return error
            }
        }
        guard case .keyUnusable(let why) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(why.contains("--key-file"))
    }

    /// The server frees the lock a moment after the connection was closed.
    private func engineWhenFree() async throws -> PostgresEngine {
        try await eventually("the end of the former connection") {
            do {
                return try Self.engine(fixture)
            } catch StoreError.databaseInUse {
                return nil
            }
        }
    }
}
