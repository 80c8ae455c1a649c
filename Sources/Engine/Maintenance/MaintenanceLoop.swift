import Base
import Foundation
import Logging
import Storage

/// A background worker of the engine. `MaintenanceLoop` repeats its passes until the engine stops.
///
/// A pass does all work that is due when it begins. It can be repeated: after an error or a crash the next pass does
/// the remaining work.
struct MaintenanceWorker: Sendable {
    typealias Pass<Value> = @Sendable () async throws -> Value

    /// The work, as it completes a log line that begins with "Could not": `finish batches`.
    let purpose: String
    /// Set when a commit makes work due; nil when only the time does.
    let trigger: AsyncAutoResetEvent?
    /// Whether a pass may begin now. If not, the loop asks again after a second.
    let mayBegin: @Sendable () -> Bool
    /// Returns when to begin the next pass unless `trigger` is set before; nil: only when `trigger` is set.
    let pass: Pass<Date?>

    init(
        _ purpose: String, on trigger: AsyncAutoResetEvent? = nil,
        if mayBegin: @escaping @Sendable () -> Bool = { true }, _ pass: @escaping Pass<Date?>
    ) {
        self.purpose = purpose
        self.trigger = trigger
        self.mayBegin = mayBegin
        self.pass = pass
    }

    /// A worker whose passes begin this number of seconds after the end of the pass before.
    init(
        _ purpose: String, every seconds: TimeInterval, by time: any TimeSource,
        if mayBegin: @escaping @Sendable () -> Bool = { true }, _ pass: @escaping Pass<Void>
    ) {
        self.init(purpose, if: mayBegin) {
            try await pass()
            return time.now.addingTimeInterval(seconds)
        }
    }
}

/// Repeats the passes of a background worker until its task is cancelled. A pass that throws is repeated after `retryInterval`.
/// The log has the first of such failures, one of each later minute, and their end.
struct MaintenanceLoop: Sendable {
    let time: any TimeSource
    let log: Logger
    /// Seconds between a failed pass and the next one.
    var retryInterval: TimeInterval = 1

    func run(_ worker: MaintenanceWorker) async {
        var failures = RepeatedFailures()
        while !Task.isCancelled {
            let next = await pass(of: worker, &failures)
            if let trigger = worker.trigger {
                await trigger.wait(until: next, by: time)
            } else {
                // If the task was cancelled, the sleep throws, and the loop ends.
                try? await time.sleep(until: next ?? .distantFuture)
            }
        }
    }

    private func pass(of worker: MaintenanceWorker, _ failures: inout RepeatedFailures) async -> Date? {
        guard worker.mayBegin() else { return time.now.addingTimeInterval(Store.leaderCheckInterval) }
        do {
            let next = try await worker.pass()
            if failures.end() { log.notice("fetchd can \(worker.purpose) again.") }
            return next
        } catch {
            if let count = failures.note(at: time.uptime) {
                let pause = retryInterval == 1 ? "a second" : "\(retryInterval.formatted()) seconds"
                log.error(
                    "Could not \(worker.purpose): \(error). fetchd tries again in \(pause).\(RepeatedFailures.suffix(count))"
                )
            }
            return time.now.addingTimeInterval(retryInterval)
        }
    }
}
