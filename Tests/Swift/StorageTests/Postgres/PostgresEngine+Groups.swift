@testable import Storage
@testable import StoragePostgres

extension PostgresEngine {
    /// Makes the changes of a group whose notice is empty.
    ///
    /// - Returns: whether it has changed anything.
    @discardableResult
    func commit(_ body: (CommitGroup) throws -> Void) throws(CommitFailure) -> Bool {
        try commit(body) { CommitNotice() } != nil
    }

    @discardableResult
    func commit(_ body: (SQLConnection, EventNumbers) throws -> Void) throws(CommitFailure) -> Bool {
        try commit { try body($0.db, $0.numbers) }
    }
}
