import Downloads
import Formats
import Foundation

/// One atomic change: rows, the events that report it, and their deliveries.
///
/// It lives on the writer's thread, while the writer performs one write of a group commit.
final class Transaction {
    let db: SQLConnection
    let now: Date
    let confidence: ClockConfidence
    /// The rows that the writer keeps in memory.
    let working: WorkingSet
    let sealer: Sealer
    let numbers: EventNumbers
    /// This service, if it shares its database with others.
    let node: Node?
    /// The kinds of work that this change makes due.
    private(set) var due: Set<WorkKind> = []
    /// The changes that observers receive after the commit.
    private(set) var changes = Commit()
    /// How this change changes the kept counts.
    var counts = CountChanges()
    private let makeULID: () -> ULID

    init(
        db: SQLConnection, now: Date, confidence: ClockConfidence, working: WorkingSet, sealer: Sealer,
        numbers: EventNumbers, node: Node? = nil, makeULID: @escaping () -> ULID
    ) {
        self.db = db
        self.working = working
        self.sealer = sealer
        self.numbers = numbers
        self.node = node
        self.now = now
        self.confidence = confidence
        self.makeULID = makeULID
    }

    func nextULID() -> ULID { makeULID() }
    func wake(_ kind: WorkKind) { due.insert(kind) }
    func note(_ event: Event) { changes.events.append(event) }
    func note(_ ending: BatchSignal.Ending, after seconds: Double) { changes.endings.append((ending, seconds)) }
    /// Reports a new or changed job to observers, and ends the validity of kept pages of the list. `insert(_:)` and
    /// `save(_:)` call it.
    func touch(_ job: JobID) { changes.jobs.insert(job) }
    /// A statement has deleted the job, or changed it or its part without `save(_:)`.
    func forget(_ job: JobID) {
        touch(job)
        working.jobs.forget(job)
    }

    func run(_ sql: String, _ arguments: SQLArguments = []) throws { try db.run(sql, arguments) }
    func changedRows(_ sql: String, _ arguments: SQLArguments = []) throws -> Int { try db.changedRows(sql, arguments) }
    func row(_ sql: String, _ arguments: SQLArguments = []) throws -> SQLRow? { try db.row(sql, arguments) }
    func rows(_ sql: String, _ arguments: SQLArguments = []) throws -> [SQLRow] { try db.rows(sql, arguments) }
}
