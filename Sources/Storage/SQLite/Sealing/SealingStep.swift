import GRDB
import Logging
import Sealing

/// What remains to be done with the secrets of an earlier version, or of an earlier key. A crash in any step repeats it.
enum SealingStep: String {
    case seal, vacuum, done

    static func read(_ db: SQLConnection) throws -> SealingStep {
        try db.value("SELECT step FROM sealing", as: String.self).flatMap(SealingStep.init) ?? .done
    }

    func write(_ db: SQLConnection) throws { try db.run("UPDATE sealing SET step = ?", [rawValue]) }

    /// Seals plain secrets, and then removes their copies from the free space of the file.
    static func runAll(_ connections: Connections, _ sealer: Sealer, _ log: Logger) throws {
        if try connections.read(read) == .seal {
            try connections.change { db in
                try SecretRows(db).seal(with: sealer)
                try vacuum.write(db)
            }
        }
        if try connections.read(read) == .vacuum { try removeCopies(connections, log) }
    }

    /// Without room for a second copy of the database, the service starts nevertheless, and the next start tries again.
    private static func removeCopies(_ connections: Connections, _ log: Logger) throws {
        do {
            try connections.vacuum()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            return log.warning(
                "The secrets in the database are sealed, but the free space of its file may have copies in plain text. Their removal needs room for a copy of the database. The next start tries again."
            )
        }
        try connections.change(done.write)
        log.notice("fetchd has sealed the secrets in the database, and removed former copies from its file.")
    }
}
