import PostgresClient
import TestKit
import Testing

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct TransactionTests {
    private static func connection() async throws -> PostgresConnection {
        let connection = try PostgresServer.shared.connect()
        try connection.run("CREATE TEMPORARY TABLE items (id bigint PRIMARY KEY)")
        return connection
    }

    private static func insert(_ id: Int64) -> PostgresStatement {
        PostgresStatement("INSERT INTO items VALUES ($1)", [.int8(id)])
    }

    @Test func beginAndCommitCostNoRoundTrip() async throws {
        let connection = try await Self.connection()
        let before = connection.roundTrips
        let rows = try connection.transaction { transaction throws(PostgresError) -> [PostgresResult] in
            try transaction.execute(Self.insert(1))
            return try transaction.commit(with: [Self.insert(2), .init("SELECT id FROM items ORDER BY id")])
        }
        #expect(try rows[1].map { try $0.value(0, as: Int.self) } == [1, 2])
        #expect(connection.roundTrips == before + 2)
        #expect(try connection.value("SELECT count(*) FROM items") == 2)
    }

    @Test func transactionWithoutCommitIsRolledBack() async throws {
        let connection = try await Self.connection()
        try connection.transaction { transaction throws(PostgresError) in
            try transaction.execute(Self.insert(1))
        }
        #expect(try connection.value("SELECT count(*) FROM items") == 0)
    }

    @Test func errorOfTheBodyRollsBack() async throws {
        struct Refused: Error {}
        let connection = try await Self.connection()
        #expect(throws: Refused.self) {
            try connection.transaction { transaction in
                try transaction.execute(Self.insert(1))
                throw Refused()
            }
        }
        #expect(try connection.value("SELECT count(*) FROM items") == 0)
    }

    @Test func emptyTransactionSendsNothing() async throws {
        let connection = try await Self.connection()
        let before = connection.roundTrips
        try connection.transaction { transaction throws(PostgresError) in _ = try transaction.commit() }
        connection.transaction { _ in }
        #expect(connection.roundTrips == before)
    }

    @Test func commitAfterAFailureIsNotASuccess() async throws {
        let connection = try await Self.connection()
        let error = failure(of: {
            _ = try connection.transaction { transaction in
                try transaction.execute(Self.insert(1))
                _ = failure(of: { try connection.run("SELECT 1 / 0") })
                try transaction.commit()
            }
        })
        #expect(error == .rolledBack)
        #expect(try connection.value("SELECT count(*) FROM items") == 0)
    }

    @Test func failureOfALastStatementPreventsTheCommit() async throws {
        let connection = try await Self.connection()
        let error = failure(of: {
            _ = try connection.transaction { transaction in
                try transaction.commit(with: [Self.insert(1), Self.insert(1), Self.insert(2)])
            }
        })
        #expect(error?.failedStatement == 1)
        #expect(error?.report?.condition == .dataRefused && error?.report?.sqlState == "23505")
        #expect(try connection.value("SELECT count(*) FROM items") == 0)
    }

    @Test func failureAtTheCommitItselfIsKnown() async throws {
        let connection = try await Self.connection()
        try connection.run("CREATE TEMPORARY TABLE owners (id bigint REFERENCES items DEFERRABLE INITIALLY DEFERRED)")
        let error = failure(of: {
            _ = try connection.transaction { transaction in
                try transaction.commit(with: [.init("INSERT INTO owners VALUES (9)")])
            }
        })
        #expect(error?.report?.condition == .dataRefused)
        #expect(try connection.value("SELECT count(*) FROM owners") == 0)
    }

    @Test func snapshotStaysTheSame() async throws {
        let server = try PostgresServer.shared
        let (reader, writer) = (try server.connect(), try server.connect())
        try writer.run("CREATE TABLE IF NOT EXISTS snapshots (id bigint)")
        let counts = try reader.transaction(.snapshot) { transaction in
            let count = PostgresStatement("SELECT count(*) FROM snapshots")
            let before: Int = try transaction.execute(count)[0].value(0)
            try writer.run("INSERT INTO snapshots VALUES (1)")
            return (before, try transaction.execute(count)[0].value(0, as: Int.self))
        }
        #expect(counts.0 == counts.1)
        #expect(try reader.value("SELECT count(*) FROM snapshots") == counts.0 + 1)
    }

    @Test func conflictOfSnapshotsCanBeRepeated() async throws {
        let server = try PostgresServer.shared
        let (one, other) = (try server.connect(), try server.connect())
        try one.run("DROP TABLE IF EXISTS conflicts")
        try one.run("CREATE TABLE conflicts AS SELECT 1 AS id")
        let update = PostgresStatement("UPDATE conflicts SET id = id + 1")
        try one.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        try one.run("SELECT 1")
        try other.execute(update)
        let error = failure(of: { try one.execute(update) })
        #expect(error?.report?.condition == .conflict && error?.report?.sqlState == "40001")
        #expect(one.isOpen)
    }

    @Test func deadlockEndsOneOfTheTransactions() async throws {
        let server = try PostgresServer.shared
        let connection = try server.connect()
        try connection.run("DROP TABLE IF EXISTS deadlocks")
        try connection.run("CREATE TABLE deadlocks AS SELECT * FROM generate_series(1, 2) AS id")
        let lock = "SELECT 1 FROM deadlocks WHERE id = $1 FOR UPDATE"
        let (first, second) = (Gate(), Gate())
        @Sendable func lockBoth(_ ids: [Int64], _ own: Gate, _ others: Gate) async throws -> PostgresError? {
            try await OwnThread.run {
                let connection = try server.connect()
                try connection.run("BEGIN")
                try connection.execute(.init(lock, [.int8(ids[0])]))
                own.open()
                others.pass()
                return failure(of: { try connection.execute(.init(lock, [.int8(ids[1])])) })
            }
        }
        async let one = lockBoth([1, 2], first, second)
        async let other = lockBoth([2, 1], second, first)
        let errors = [try await one, try await other].compactMap { $0?.report?.sqlState }
        #expect(errors == ["40P01"])
    }
}
