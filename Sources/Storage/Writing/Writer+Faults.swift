import Dispatch
import GRDB

/// What is done about a disk that fails, and how it is noticed that it is well again.
extension Writer {
    /// Why changes cannot be stored at the moment, or are only kept in the log; nil when all is well.
    var fault: StoreError? { condition.withLock { $0.fault } }

    /// After a commit that failed.
    ///
    /// - Returns: the error that its members get.
    func fault(after error: any Error) -> StoreError {
        commits.discard()
        var fault = StoreError(error)
        if case .diskFailed(let why) = fault {
            if replaceFailedCommit() {
                log.error("\(fault). The changes were refused; later ones are stored.")
                return .diskFailed(why: why + "; the change is not stored")
            }
            fault = .diskFailed(why: why + "; it is not certain that the change is not stored")
        }
        suspect(fault)
        return fault
    }

    /// Notes that something is wrong, and looks every second whether it still is.
    func suspect(_ fault: StoreError) {
        let isNews = condition.withLock { condition in
            defer { condition.fault = fault }
            return condition.fault == nil
        }
        guard isNews else { return }
        log.error("\(fault) Requests that change anything may be refused; fetchd tries again every second.")
        lookLater()
    }

    private func lookLater() { queue.asyncAfter(deadline: .now() + 1) { [self] in look() } }

    private func look() {
        guard !condition.withLock({ $0.isClosed }) else { return }
        do {
            if connections.owesCheckpoint { try connections.checkpoint(.passive) }
            try commitNothing()
            condition.withLock { $0.fault = nil }
            log.notice("The database can be written again.")
        } catch {
            let fault = StoreError(error)
            condition.withLock { $0.fault = fault }
            lookLater()
        }
    }

    /// A commit whose sync failed may lie in the log whole: after a crash it would be found there, although it was
    /// refused. Another one in its place prevents that.
    private func replaceFailedCommit() -> Bool { (try? commitNothing()) != nil }

    private func commitNothing() throws {
        defer { commits.discard() }
        try connections.pool.writeWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                try commits.count(in: db)
                return .commit
            }
        }
        commits.note(nil)
    }
}
