import Dispatch
import GRDB

/// Handles failures of the disk, and notices when it works again.
extension Writer {
    /// Why writes fail now, or are only in the log; nil when the disk works.
    var fault: StoreError? { condition.withLock { $0.fault } }

    /// Handles a failed commit.
    ///
    /// - Returns: the error for the writes of the group.
    func fault(after error: any Error) -> StoreError {
        commits.discard()
        var fault = StoreError(error)
        if case .diskFailed(let why) = fault {
            if replaceFailedCommit() {
                log.error("\(fault). The store refused these changes and stores later ones.")
                return .diskFailed(why: why + "; the change is not stored")
            }
            fault = .diskFailed(why: why + "; it is not certain that the change is not stored")
        }
        report(fault)
        return fault
    }

    /// Records a fault, and probes every second until it has passed.
    func report(_ fault: StoreError) {
        let isNews = condition.withLock { condition in
            defer { condition.fault = fault }
            return condition.fault == nil
        }
        guard isNews else { return }
        log.error("\(fault) fetchd may refuse requests that change data, and tries to write again every second.")
        scheduleProbe()
    }

    private func scheduleProbe() { queue.asyncAfter(deadline: .now() + 1) { [self] in probe() } }

    private func probe() {
        guard !condition.withLock({ $0.isClosed }) else { return }
        do {
            if connections.needsCheckpoint { try connections.checkpoint(.passive) }
            try commitCounterOnly()
            condition.withLock { $0.fault = nil }
            log.notice("fetchd can write the database again.")
        } catch {
            let fault = StoreError(error)
            condition.withLock { $0.fault = fault }
            scheduleProbe()
        }
    }

    /// The log may contain the whole commit whose sync failed. After a crash SQLite would find it there, although its
    /// callers got an error. A further commit overwrites it.
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
