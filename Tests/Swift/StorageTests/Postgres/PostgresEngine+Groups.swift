@testable import Storage

extension PostgresEngine {
    /// Makes the changes of a group whose notice is empty.
    ///
    /// - Returns: whether it has changed anything.
    @discardableResult
    func commit(_ body: (SQLConnection, EventNumbers) throws -> Void) throws(CommitFailure) -> Bool {
        try commit(body) { CommitNotice() } != nil
    }
}
