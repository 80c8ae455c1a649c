import PostgresClient
import TestKit
import Testing

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct RoundTripTests {
    @Test func statementsShareARoundTrip() async throws {
        let connection = try PostgresServer.shared.connect()
        let before = connection.roundTrips
        let results = try connection.execute((1...100).map { PostgresStatement("SELECT $1 * 2", [.int8($0)]) })
        #expect(try results.map { try $0[0].value(0, as: Int.self) } == (1...100).map { $0 * 2 })
        #expect(connection.roundTrips == before + 1)
    }

    @Test(arguments: 0..<5)
    func failedStatementUndoesTheWholeCall(_ failing: Int) async throws {
        let connection = try PostgresServer.shared.connect()
        try connection.run("CREATE TEMPORARY TABLE numbers (id bigint PRIMARY KEY)")
        let statements = (0..<5).map {
            PostgresStatement("INSERT INTO numbers VALUES (10 / $1)", [.int8($0 == failing ? 0 : $0 + 1)])
        }
        let error = failure(of: { try connection.execute(statements) })
        #expect(error?.failedStatement == failing)
        #expect(error?.report?.sqlState == "22012")
        #expect(try connection.value("SELECT count(*) FROM numbers") == 0)
    }

    @Test func invalidSQLInTheMiddleIsNamed() async throws {
        let connection = try PostgresServer.shared.connect()
        let error = failure(of: {
            try connection.execute([.init("SELECT 1"), .init("SELEKT 2"), .init("SELECT 3"), .init("SELECT 1")])
        })
        #expect(error?.failedStatement == 1)
        #expect(try connection.execute([.init("SELECT 1"), .init("SELECT 3")]).count == 2)
    }

    /// The server would wait for its results to be read, and the client for its statements to be taken.
    @Test func largeStatementsAndLargeResultsDoNotBlockEachOther() async throws {
        let connection = try PostgresServer.shared.connect()
        let text = String(repeating: "x", count: 50_000)
        let results = try connection.execute(
            (0..<500).map { _ in PostgresStatement("SELECT repeat($1, 2)", [.text(text)]) })
        #expect(try results.allSatisfy { try $0[0].value(0, as: String.self).utf8.count == 100_000 })
    }

    @Test func statementIsPreparedOnce() async throws {
        let connection = try PostgresServer.shared.connect()
        let statement = PostgresStatement("SELECT $1 + 1", [.int8(1)])
        try connection.execute([statement, statement])
        try connection.execute(statement)
        try connection.execute(.init("SELECT $1 + 1", [.inferred("1")]))
        #expect(try connection.value("SELECT count(*) FROM pg_prepared_statements") == 2)
    }

    @Test func statementsBeyondTheLimitAreNotPrepared() async throws {
        var options = PostgresConnection.Options()
        options.preparedStatements = 3
        let connection = try PostgresServer.shared.connect(options)
        for _ in 0..<2 {
            let results = try connection.execute((0..<10).map { PostgresStatement("SELECT \($0)") })
            #expect(try results.map { try $0[0].value(0, as: Int.self) } == Array(0..<10))
        }
        #expect(try connection.value("SELECT count(*) FROM pg_prepared_statements") == 3)
    }

    @Test func statementOfChangedTablesIsPreparedAgain() async throws {
        let connection = try PostgresServer.shared.connect()
        try connection.run("CREATE TEMPORARY TABLE changing (id bigint)")
        let statement = PostgresStatement("SELECT * FROM changing")
        try connection.execute(statement)
        try connection.run("ALTER TABLE changing ADD COLUMN name text")
        #expect(failure(of: { try connection.execute(statement) })?.report?.condition == .notSupported)
        #expect(try connection.execute(statement).column(named: "name") == 1)
        try connection.run("DEALLOCATE ALL")
        #expect(failure(of: { try connection.execute(statement) })?.report?.condition == .statementUnknown)
        #expect(try connection.execute(statement).isEmpty)
    }

    @Test func readSeesOneSnapshotAndChangesNothing() async throws {
        let connection = try PostgresServer.shared.connect()
        let before = connection.roundTrips
        let results = try connection.read([.init("SELECT 1"), .init("SELECT current_setting('transaction_isolation')")])
        #expect(try results[1][0].value(0) == "repeatable read")
        #expect(connection.roundTrips == before + 1)
        let error = failure(of: {
            _ = try connection.read([.init("SELECT 1"), .init("CREATE TABLE never (id bigint)")])
        })
        #expect(error?.failedStatement == 1)
        #expect(error?.report?.condition == .readOnly)
        #expect(try connection.value("SELECT 1") == 1)
    }

    @Test func scriptIsOneTransaction() async throws {
        let connection = try PostgresServer.shared.connect()
        try connection.execute(
            script: "CREATE TEMPORARY TABLE scripted (id bigint); INSERT INTO scripted VALUES (1), (2)")
        let error = failure(of: {
            try connection.execute(
                script: "INSERT INTO scripted VALUES (3); SELECT 1 / 0; INSERT INTO scripted VALUES (4)")
        })
        #expect(error?.failedStatement == 0)
        #expect(try connection.value("SELECT count(*) FROM scripted") == 2)
    }

    @Test func manyConnectionsWriteAtOnce() async throws {
        let server = try PostgresServer.shared
        let connection = try server.connect()
        try connection.run("DROP TABLE IF EXISTS crowd")
        try connection.run("CREATE TABLE crowd (writer bigint, id bigint)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<64 {
                group.addTask {
                    try await OwnThread.run {
                        let connection = try server.connect()
                        for id in 0..<10 {
                            try connection.execute(
                                .init("INSERT INTO crowd VALUES ($1, $2)", [.int8(Int64(writer)), .int8(Int64(id))]))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try connection.value("SELECT count(DISTINCT (writer, id)) FROM crowd") == 640)
    }
}
