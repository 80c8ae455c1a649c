import Downloads
import Formats
import Foundation
import GRDB

/// One change to the store: the rows, the events that report it and their deliveries, all or nothing.
///
/// Lives on the writer's thread, for the length of one member of a group commit.
final class Transaction {
    let db: Database
    let now: Date
    let confidence: ClockConfidence
    /// What to wake once this is committed.
    private(set) var due: Set<WorkKind> = []
    /// What is told to those who watch once this is committed.
    private(set) var changes = Commit()
    private let makeULID: () -> ULID

    init(db: Database, now: Date, confidence: ClockConfidence, makeULID: @escaping () -> ULID) {
        self.db = db
        self.now = now
        self.confidence = confidence
        self.makeULID = makeULID
    }

    func nextULID() -> ULID { makeULID() }
    func wake(_ kind: WorkKind) { due.insert(kind) }
    func note(_ event: Event) { changes.events.append(event) }
    /// Whoever writes anything about a job, or about its part, says so.
    func touch(_ job: JobID) { changes.jobs.insert(job) }

    /// Statements are prepared once for each connection.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
    }

    /// Rows that the statement before changed.
    var changedRows: Int { db.changesCount }
}
