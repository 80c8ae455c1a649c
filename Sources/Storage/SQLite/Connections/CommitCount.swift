import Downloads
import GRDB
import Locks

/// Counts the commits that change data, in the database and in the mark beside it.
///
/// Only the writer's thread uses it, except `value`.
final class CommitCount: @unchecked Sendable {
    private let file: MarkFile
    private var position: Mark.Position
    private var isChanged = false
    private let made = Locked(0)

    /// The commits since the store was opened. Any thread may ask.
    var value: Int { made.withLock { $0 } }

    init(_ file: MarkFile) {
        self.file = file
        position = file.mark.position
    }

    /// Called inside the transaction.
    func count(in db: Database) throws {
        isChanged = true
        try db.cachedStatement(sql: "UPDATE history SET commits = ?").execute(arguments: [position.commits + 1])
    }

    /// Called when the transaction has failed.
    func discard() { isChanged = false }

    /// Called when the transaction is durable.
    ///
    /// - Returns: whether it has changed data.
    @discardableResult
    func note(_ lastEvent: EventID?) -> Bool {
        guard isChanged else { return false }
        isChanged = false
        position.commits += 1
        made.withLock { $0 += 1 }
        position.lastEvent = lastEvent ?? position.lastEvent
        file.note(position)
        return true
    }
}
