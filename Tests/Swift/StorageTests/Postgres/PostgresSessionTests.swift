import Foundation
import PostgresClient
import TestKit
import Testing

@testable import Storage
@testable import StoragePostgres

@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct PostgresSessionTests {
    private func connection() throws -> PostgresConnection {
        let connection = try PostgresFixture().connect()
        try connection.execute(
            script: """
                CREATE TABLE things (
                    id bigint PRIMARY KEY, text text, number double precision, is_new bigint CHECK (is_new IN (0, 1)),
                    bytes bytea)
                """)
        return connection
    }

    private func session(_ connection: PostgresConnection) -> (PostgresSession, SQLConnection) {
        let session = PostgresSession(connection, PostgresDialect(), .readCommitted)
        return (session, SQLConnection(session))
    }

    @Test func valuesReturnAsTheyWere() async throws {
        let (session, db) = session(try connection())
        let bytes = Data((0...255).map { UInt8($0) })
        let texts = ["", "ä' \\ $1 ?", "a\0b"]
        for (id, text) in texts.enumerated() {
            try db.run(
                "INSERT INTO things (id, text, number, is_new, bytes) VALUES (?, ?, ?, ?, ?)",
                [id, text, 0.1, true, bytes])
        }
        try db.run("INSERT INTO things (id) VALUES (:id)", ["id": Int64.max])
        let rows = try db.rows("SELECT * FROM things ORDER BY id")
        #expect(try rows.map { try $0["id"] as Int64 } == [0, 1, 2, .max])
        #expect(try rows.dropLast().map { try $0[1] as String } == ["", "ä' \\ $1 ?", "a\u{FFFD}b"])
        #expect(
            try rows[0]["number"] as Double == 0.1 && rows[0]["is_new"] as Bool && rows[0]["bytes"] as Data == bytes)
        #expect(
            try rows[3]["text"] as String? == nil && rows[3]["bytes"] as Data? == nil && rows[3]["no"] as Int? == nil)
        #expect(try db.value("SELECT sum(id) FROM things WHERE id < ?", [3], as: Int64.self) == 3)
        #expect(try db.values("SELECT id FROM things ORDER BY id LIMIT ?", [2], as: Int.self) == [0, 1])
        #expect(try db.hasTable("things") && !db.hasTable("others"))
        session.rollBack()
    }

    /// A row that another program has changed fails its read, and not the service.
    @Test func unreadableColumnThrows() async throws {
        let (session, db) = session(try connection())
        try db.run("INSERT INTO things (id, text) VALUES (1, 'a')")
        let row = try #require(try db.row("SELECT id, text, number FROM things"))
        #expect(throws: StoreError.self) { try row["text"] as Int }
        #expect(throws: StoreError.self) { try row[2] as Double }
        #expect(throws: StoreError.self) { try row["no"] as Int }
        #expect(try row["id"] as Int == 1 && row["number"] as Double? == nil)
        session.rollBack()
    }

    @Test func queuedWritesCostNoRoundTrips() async throws {
        let connection = try connection()
        let (session, db) = session(connection)
        let before = connection.roundTrips
        for id in 0..<10 { try db.run("INSERT INTO things (id) VALUES (?)", [id]) }
        #expect(connection.roundTrips == before)
        #expect(try db.value("SELECT count(*) FROM things", as: Int.self) == 10)
        #expect(connection.roundTrips == before + 1)
        for id in 10..<20 { try db.run("INSERT INTO things (id) VALUES (?)", [id]) }
        try session.commit()
        #expect(connection.roundTrips == before + 2)
        #expect(try connection.execute(.init("SELECT count(*) FROM things"))[0].value(0) == 20)
    }

    @Test func changesAreCounted() async throws {
        let (session, db) = session(try connection())
        #expect(try db.rows("SELECT 1").count == 1 && session.changes == 0)
        try db.run("INSERT INTO things (id) VALUES (1)")
        #expect(session.changes == 1)
        #expect(try db.changedRows("UPDATE things SET text = 'a' WHERE id > ?", [1]) == 0 && session.changes == 1)
        #expect(try db.rows("DELETE FROM things RETURNING id").count == 1 && session.changes == 2)
        session.rollBack()
    }

    @Test func refusedStatementIsAttributedToItsWrite() async throws {
        let connection = try connection()
        let (session, db) = session(connection)
        session.owner = 3
        try db.run("INSERT INTO things (id, is_new) VALUES (1, 7)")
        session.owner = 4
        #expect(throws: PostgresError.self) { try db.rows("SELECT 1") }
        #expect(session.failure?.owner == 3)
        #expect(session.failure?.error.report?.condition == .dataRefused)
        #expect(throws: PostgresError.self) { try session.commit() }
        session.rollBack()
        #expect(try connection.execute(.init("SELECT count(*) FROM things"))[0].value(0) == 0)
    }
}
