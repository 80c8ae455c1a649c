import Downloads
import GRDB

/// Counts the commits that change anything: in the database, and beside it in the mark.
///
/// Only touched on the writer's thread.
final class CommitCount: @unchecked Sendable {
    private let file: MarkFile
    private var position: Mark.Position
    private var isChanged = false

    init(_ file: MarkFile) {
        self.file = file
        position = file.mark.position
    }

    /// Within the transaction.
    func count(in db: Database) throws {
        isChanged = true
        try db.cachedStatement(sql: "UPDATE history SET commits = ?").execute(arguments: [position.commits + 1])
    }

    /// The transaction has failed.
    func discard() { isChanged = false }

    /// Once it is durable.
    func note(_ lastEvent: EventID?) {
        guard isChanged else { return }
        isChanged = false
        position.commits += 1
        position.lastEvent = lastEvent ?? position.lastEvent
        file.note(position)
    }
}
