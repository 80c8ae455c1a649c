import Downloads
import Foundation
import PostgresClient

/// A group commit on PostgreSQL, without savepoints, which would cost more than all else. If a refused write has changed
/// something, the group runs again without it.
final class PostgresGroup {
    let session: PostgresSession
    private(set) var numbers = EventNumbers()
    /// `journal.commits` before this group.
    private(set) var position: Int64 = 0
    /// The group that has committed last.
    private(set) var previous = ""
    /// Identifies this group in the journal.
    let id = UUID().uuidString
    /// The write that was refused after it had changed something, by its place in the group.
    private(set) var undone: Int?
    private let excluded: [Int: StoreError?]
    private var lastEvent: EventID = 0
    private var count = 0

    /// - Parameter excluded: see `GroupAttempts`.
    init(_ session: PostgresSession, excluded: [Int: StoreError?]) {
        self.session = session
        self.excluded = excluded
    }

    /// Makes this node the one that writes.
    ///
    /// - Parameter known: the position of the journal after the last commit of this store.
    func lock(known: Int64?) throws {
        let rows = try session.rows("SELECT last, commits, writer FROM journal WHERE id = 1 FOR UPDATE", [])
        guard let journal = rows.first else { throw StoreError.failed(why: "the journal has no row") }
        (lastEvent, position, previous) = (journal.value(0), journal.value(1), journal.value(2))
        numbers = EventNumbers(after: lastEvent)
        session.followsOthers = position != known
    }

    /// - Throws: `RefusedWrite` if the database refuses the write; another error if the group must run again, or has failed.
    func attempt(_ body: () -> Bool) throws -> Bool {
        let index = count
        count += 1
        if let excluded = excluded[index] {
            if let excluded { throw RefusedWrite(error: excluded) }
            return false
        }
        let changes = session.changes
        session.owner = index
        defer { session.owner = nil }
        let isKept = body()
        if let failure = session.failure { throw failure.error }
        guard !isKept, session.changes != changes else { return isKept }
        undone = index
        throw PostgresError.rolledBack
    }

    /// Commits if the group has changed anything.
    ///
    /// - Returns: whether it has.
    func commit() throws -> Bool {
        guard session.changes > 0 else {
            session.rollBack()
            return false
        }
        try session.run(
            "UPDATE journal SET last = ?, commits = ?, writer = ? WHERE id = 1",
            [numbers.last ?? lastEvent, position + 1, id])
        try session.commit()
        return true
    }

    func rollBack() { session.rollBack() }
}

/// The database has refused a statement of a write, after the write itself had succeeded. The other writes of its group are
/// made without it.
struct RefusedWrite: Error {
    let error: StoreError
}
