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
        report(fault)
        return fault
    }

    /// Notes that something is wrong, and looks every second whether it still is.
    func report(_ fault: StoreError) {
        let isNews = condition.withLock { condition in
            defer { condition.fault = fault }
            return condition.fault == nil
        }
        guard isNews else { return }
        log.error("\(fault) Requests that change anything may be refused; fetchd tries again every second.")
        scheduleProbe()
    }

    private func scheduleProbe() { queue.asyncAfter(deadline: .now() + 1) { [self] in probe() } }

    private func probe() {
        guard !condition.withLock({ $0.isClosed }) else { return }
        do {
            if connections.needsCheckpoint { try connections.checkpoint(.passive) }
            try commitCounterOnly()
            condition.withLock { $0.fault = nil }
            log.notice("The database can be written again.")
        } catch {
            let fault = StoreError(error)
            condition.withLock { $0.fault = fault }
            scheduleProbe()
        }
    }

    /// A commit whose sync failed may lie in the log whole: after a crash it would be found there, although it was
    /// refused. Another one in its place prevents that.
    private func replaceFailedCommit() -> Bool { (try? commitCounterOnly()) != nil }

    private func commitCounterOnly() throws {
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
