import Downloads
import Formats
import Foundation

/// One atomic change: rows, the events that report it, and their deliveries.
///
/// It lives on the writer's thread, while the writer performs one write of a group commit.
package final class Transaction {
    package let db: SQLConnection
    private let session: GatheringSession
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
        session = GatheringSession(of: db)
        self.db = SQLConnection(session)
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

    /// Updates the row of a table with the identifier, if there is a change: before the next statement, or at the end.
    func update(_ table: String, _ change: RowChange, id: String) throws { try session.update(table, change, id: id) }
    /// Ends the change: makes the updates that wait.
    func finish() throws { try session.flush() }

    func run(_ sql: String, _ arguments: SQLArguments = []) throws { try db.run(sql, arguments) }
    func changedRows(_ sql: String, _ arguments: SQLArguments = []) throws -> Int { try db.changedRows(sql, arguments) }
    func row(_ sql: String, _ arguments: SQLArguments = []) throws -> SQLRow? { try db.row(sql, arguments) }
    func rows(_ sql: String, _ arguments: SQLArguments = []) throws -> [SQLRow] { try db.rows(sql, arguments) }
}

/// The kinds of work that a commit can make due. Each kind has one worker, which waits for `Store.work(_:)`.
/// The letters name them in notices to other nodes.
public enum WorkKind: String, Sendable, CaseIterable {
    /// Jobs may be admitted.
    case jobs = "j"
    /// A batch has become due, or its due time has changed.
    case batches = "b"
    /// Deliveries can be sent.
    case deliveries = "d"
    /// A deleted session may have nothing left to settle.
    case sessions = "s"
    /// A job has a time limit that ends soon.
    case deadlines = "t"
    /// The expiry of a part has begun.
    case parts = "p"
    /// The schedule of the limits may have changed.
    case schedule = "h"
    /// A client has changed a setting of the service.
    case settings = "e"
    /// A client has changed the rate limit of a session.
    case configurations = "c"
    /// A client has created, changed or deleted a token.
    case tokens = "k"
    /// A job that runs on another node has to stop, or its specification has changed.
    case attempts = "a"
    /// The lease of another node has ended, or no node leads.
    case nodes = "n"
    /// Another node has a file to remove in its own folder.
    case removals = "r"
    /// A host has closed its gate, or a client has opened it.
    case hosts = "o"
}

/// Inserts rows of one table: fifty with one statement, and a remainder one by one, so that a connection prepares two
/// statements only. A statement costs as much as several rows.
struct RowInsertion {
    private let single: String
    private let set: String

    /// - Parameter target: the table and its columns, as in SQL.
    init(_ target: String, columns: Int) {
        let row = "(" + Array(repeating: "?", count: columns).joined(separator: ", ") + ")"
        single = "INSERT INTO \(target) VALUES " + row
        set =
            "INSERT INTO \(target) VALUES "
            + Array(repeating: row, count: Self.rowsInAStatement).joined(separator: ", ")
    }

    private static let rowsInAStatement = 50

    /// The rows of each statement.
    static func chunks<Element>(_ rows: [Element]) -> [ArraySlice<Element>] {
        let inSets = rows.count - rows.count % rowsInAStatement
        let starts = Array(stride(from: 0, to: inSets, by: rowsInAStatement))
        return starts.map { rows[$0..<$0 + rowsInAStatement] } + rows.indices[inSets...].map { rows[$0...$0] }
    }

    /// - Parameters:
    ///   - values: of one chunk, row by row.
    ///   - rows: the number of rows in the chunk.
    func run(_ values: [(any SQLValue)?], rows: Int, in transaction: Transaction) throws {
        try transaction.run(rows == 1 ? single : set, SQLArguments(values))
    }
}
