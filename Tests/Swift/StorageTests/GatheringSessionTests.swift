import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Updates that set the same values are one statement, and no statement sees less than before.
@Suite struct GatheringSessionTests {
    /// Performs the statements of a real session, and keeps their texts.
    private final class Recording: SQLSession {
        private let session: any SQLSession
        private(set) var updates: [String] = []

        init(_ db: SQLConnection) { session = db.session }

        var isPostgres: Bool { session.isPostgres }

        func run(_ sql: String, _ arguments: SQLArguments) throws {
            if sql.hasPrefix("UPDATE") { updates.append(sql) }
            try session.run(sql, arguments)
        }

        func changedRows(_ sql: String, _ arguments: SQLArguments) throws -> Int {
            try session.changedRows(sql, arguments)
        }

        func row(_ sql: String, _ arguments: SQLArguments) throws -> SQLRow? { try session.row(sql, arguments) }
        func rows(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow] { try session.rows(sql, arguments) }

        func forEach(_ sql: String, _ arguments: SQLArguments, _ body: (SQLRow) throws -> Bool) throws {
            try session.forEach(sql, arguments, body)
        }

        func value(_ sql: String, _ arguments: SQLArguments) throws -> SQLScalar? { try session.value(sql, arguments) }
        func hasTable(_ name: String) throws -> Bool { try session.hasTable(name) }
    }

    /// Gives the body a gathering session over a database with jobs, and the texts of the updates so far.
    private func with(
        jobs count: Int, _ body: @escaping @Sendable (GatheringSession, [JobID], () -> [String]) throws -> Void
    ) async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(count).map(\.id)
        try await fixture.store.writer.write { transaction in
            let recording = Recording(transaction.db)
            let session = GatheringSession(of: SQLConnection(recording))
            try body(session, jobs) { recording.updates }
            try session.flush()
        }
    }

    private static func attempts(_ count: Int) -> RowChange { RowChange(columns: ["attempts"], values: [count]) }

    private static func sum(in session: GatheringSession) throws -> Int {
        guard case .integer(let sum)? = try session.value("SELECT sum(attempts) FROM jobs", []) else { return -1 }
        return Int(sum)
    }

    @Test func aHundredRowsWithTheSameValuesAreTwoStatements() async throws {
        try await with(jobs: 100) { session, jobs, updates in
            for job in jobs { try session.update("jobs", Self.attempts(3), id: job.text) }
            #expect(try Self.sum(in: session) == 300)
            #expect(updates().count == 2)
        }
    }

    @Test func aReadSeesTheUpdatesBeforeIt() async throws {
        try await with(jobs: 3) { session, jobs, updates in
            for job in jobs { try session.update("jobs", Self.attempts(2), id: job.text) }
            #expect(updates().isEmpty)
            #expect(try Self.sum(in: session) == 6)
            #expect(updates().count == 3)
        }
    }

    @Test func rowsChangeInTheOrderOfTheUpdates() async throws {
        try await with(jobs: 2) { session, jobs, _ in
            try session.update("jobs", Self.attempts(1), id: jobs[0].text)
            try session.update("jobs", Self.attempts(1), id: jobs[1].text)
            try session.update("jobs", Self.attempts(5), id: jobs[0].text)
            try session.update("jobs", Self.attempts(1), id: jobs[0].text)
            #expect(try Self.sum(in: session) == 2)
        }
    }

    @Test func otherColumnsAreAnotherStatement() async throws {
        try await with(jobs: 2) { session, jobs, updates in
            try session.update("jobs", Self.attempts(1), id: jobs[0].text)
            try session.update("jobs", RowChange(columns: ["admissions"], values: [1]), id: jobs[1].text)
            try session.update("jobs", RowChange(), id: jobs[1].text)
            try session.flush()
            #expect(
                updates() == [
                    "UPDATE jobs SET attempts = ? WHERE id IN (?)", "UPDATE jobs SET admissions = ? WHERE id IN (?)",
                ])
        }
    }

    /// Without an address in memory, an empty value would be NULL.
    @Test func emptyTextsAndBytesAreNotNull() async throws {
        try await with(jobs: 1) { session, _, _ in
            let row = try session.row(
                "SELECT CAST(? AS TEXT) AS text, ? AS many", ["", String(repeating: "ä", count: 40)])
            #expect(try row?["text"] as String? == "")
            #expect(try row?["many"] as String? == String(repeating: "ä", count: 40))
            guard !session.isPostgres else { return }
            #expect(try session.value("SELECT ?", [Data()]) == .bytes(Data()))
            #expect(throws: (any Error).self) { try session.run("UPDATE jobs SET attempts = ?", []) }
        }
    }
}
