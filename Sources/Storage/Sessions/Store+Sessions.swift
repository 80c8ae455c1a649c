import Downloads
import Formats
import Foundation
import GRDB

/// Declaring sessions and reading how they stand.
extension Store {
    /// Declares a session, or re-attaches to it.
    ///
    /// - Parameters:
    ///   - configuration: replaces the one there is; nil changes nothing.
    ///   - onCommit: see `Writer`.
    public func declareSession(
        _ id: Name, configuration: SessionConfiguration?, onCommit: @escaping @Sendable () -> Void = {}
    ) async throws -> (status: SessionStatus, isNew: Bool) {
        let isNew = try await writer.write(onCommit: { _ in onCommit() }) { transaction in
            let isNew = try transaction.row("SELECT 1 FROM sessions WHERE id = ?", [id.text]) == nil
            if isNew {
                try transaction.insertSession(id, configuration ?? SessionConfiguration())
            } else if let configuration {
                try transaction.run(
                    "UPDATE sessions SET configuration = ? WHERE id = ?", [try Stored.text(configuration), id.text])
                // A higher limit may let jobs in.
                transaction.wake(.jobs)
            }
            return isNew
        }
        return (try session(id), isNew)
    }

    /// - Throws: `noSuchSession`.
    public func session(_ id: Name) throws(StoreError) -> SessionStatus {
        let status = try read { db in
            try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM sessions WHERE id = ?"), arguments: [id.text])
                .map { try SessionRow.status($0, in: db) }
        }
        guard let status else { throw .noSuchSession(id) }
        return status
    }

    /// All of them, by name.
    public func sessions() throws(StoreError) -> [SessionStatus] {
        try read { db in
            try Row.fetchAll(db.cachedStatement(sql: "SELECT * FROM sessions ORDER BY id"))
                .map { try SessionRow.status($0, in: db) }
        }
    }
}
