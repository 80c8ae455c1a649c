import Locks
import LogLines
import Logging
import Storage

/// Logs the failures of an operation on the outbox, which is repeated while the database fails: the first one, one of each
/// later minute, and their end.
struct OutboxFailures: Sendable {
    private let operation: String
    private let time: any TimeSource
    private let log: Logger
    private let failures = Locked(RepeatedFailures())

    /// - Parameter operation: completes "fetchd can ... again".
    init(of operation: String, time: any TimeSource, log: Logger) {
        (self.operation, self.time, self.log) = (operation, time, log)
    }

    /// - Parameters:
    ///   - what: completes "Could not ...".
    ///   - fields: of the line.
    func note(_ what: String, _ error: any Error, _ fields: Logger.Metadata = [:]) {
        guard let count = failures.withLock({ $0.note(at: time.uptime) }) else { return }
        log.error(
            "Could not \(what): \(error). fetchd tries again.\(RepeatedFailures.suffix(count))", metadata: fields)
    }

    /// The operation has succeeded.
    func end() {
        if failures.withLock({ $0.end() }) { log.notice("fetchd can \(operation) again.") }
    }
}
