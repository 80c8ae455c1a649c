import GRDB
import Logging

/// The way from a folder to a database that can be written, in steps of which each leaves a folder that can be opened
/// again, wherever a crash comes.
struct Opening {
    let connections: Connections
    let mark: MarkFile
    let history: History

    init(_ folder: DataFolder, _ options: Store.Options) throws(StoreError) {
        let found = try MarkFile.open(in: folder)
        let isUnchecked = try StartupCheck(
            folder: folder, mark: found?.mark, quickCheckLimit: options.quickCheckLimit
        ).run()
        // The mark comes before the database: a folder that has one, and no database, was not emptied by anybody.
        let size = try folder.size(of: folder.database) ?? 0
        let isNew = found == nil && size == 0
        let initial = isNew ? try MarkFile.make(Mark(state: .initialising), in: folder) : found
        do {
            connections = try Connections(path: folder.database, readers: options.readers)
            try Schema.migrator.migrate(connections.pool)
            // Also what was found in the log: that its bytes can be read does not mean that they are on disk.
            try connections.checkpoint(.truncate)
            guard let history = try connections.read(History.read) else {
                throw StoreError.databaseUnreadable(path: folder.database, why: "it has no history")
            }
            self.history = history
            let lastEvent = try connections.read { try Store.lastEvent(in: $0) }
            try folder.sync()
            let mark = Mark(
                state: .running, identity: history.identity,
                position: .init(
                    commits: history.commits, lastEvent: max(lastEvent, initial?.mark.position.lastEvent ?? 0)))
            try initial?.set(mark, in: folder)
            self.mark = try initial ?? MarkFile.make(mark, in: folder)
        } catch {
            throw folder.openingError(error)
        }
        if isUnchecked { connections.checkInBackground(options.log) }
    }
}
