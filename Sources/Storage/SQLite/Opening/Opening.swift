import Foundation
import GRDB
import Logging

/// Opens the database of a folder for writing. After a crash in any step the folder can be opened again.
struct Opening {
    let database: OpenedDatabase

    init(_ folder: DataFolder, _ options: Store.Options) throws(StoreError) {
        let unlocking = try Unlocking(folder, options.key, acceptsLoss: options.acceptsLostSecrets)
        let found = try MarkFile.open(in: folder)
        if let found, found.mark.state == .restoring { try Self.completeRestore(folder, found, options.log) }
        let isUnchecked = try StartupCheck(
            folder: folder, mark: found?.mark, quickCheckLimit: options.quickCheckLimit
        ).run()
        // The mark `initialising` is created before the database. So after a crash between the two, the next start knows
        // that there was no database yet.
        let size = try folder.size(of: folder.database) ?? 0
        let isNew = found == nil && size == 0
        let initial = isNew ? try MarkFile.make(Mark(state: .initialising), in: folder) : found
        try folder.createDatabase()
        do {
            let connections = try Connections(path: folder.database, readers: options.readers)
            try connections.read(unlocking.verify)
            try UpgradeCopy(folder, options.log).make(connections, largest: options.largestUpgradeCopy)
            try Schema.migrator.migrate(connections.pool)
            let sealer = Sealer(keys: try unlocking.keyring(connections, options.log))
            try SealingStep.runAll(connections, sealer, options.log)
            // The log is copied as well: its bytes can be read, but may not be on the disk.
            try connections.checkpoint(.truncate)
            guard let history = try connections.read(History.read) else {
                throw StoreError.databaseUnreadable(path: folder.database, why: "it has no history")
            }
            let lastEvent = try connections.read { try Store.lastEvent(in: $0) }
            try folder.sync()
            let mark = Mark(
                state: .running, identity: history.identity,
                position: .init(
                    commits: history.commits, lastEvent: max(lastEvent, initial?.mark.position.lastEvent ?? 0)))
            try initial?.set(mark, in: folder)
            let file = try initial ?? MarkFile.make(mark, in: folder)
            database = OpenedDatabase(
                engine: SQLiteEngine(connections, file, in: folder, options.log), sealer: sealer, history: history)
            if isUnchecked { connections.checkInBackground(options.log) }
        } catch {
            throw folder.openingError(error)
        }
    }

    private static func completeRestore(
        _ folder: DataFolder, _ mark: MarkFile, _ log: Logger
    ) throws(StoreError) {
        do {
            let kept = try DatabaseReplacement(folder).complete(mark, at: Date())
            log.notice(
                "A restore was interrupted, and fetchd has completed it. \(kept.map { "The former database is kept as \($0)." } ?? "")"
            )
        } catch {
            throw folder.openingError(error)
        }
    }
}
