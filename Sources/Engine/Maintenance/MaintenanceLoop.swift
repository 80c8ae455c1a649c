import Foundation
import Locks
import LogLines
import Logging
import Storage

/// Repeats the passes of a background worker until its task is cancelled. A pass that throws is repeated after `retryInterval`.
/// The log has the first of such failures, one of each later minute, and their end.
struct MaintenanceLoop: Sendable {
    /// Whether this node does the work of the leader.
    var leads: @Sendable () -> Bool = { true }
    let time: any TimeSource
    let log: Logger
    /// Seconds between a failed pass and the next one.
    let retryInterval: TimeInterval

    func run(_ worker: some MaintenanceWorker) async {
        var worker = worker
        var failures = RepeatedFailures()
        while !Task.isCancelled {
            let next = await pass(of: &worker, &failures)
            await wait(until: next, or: worker.trigger)
        }
    }

    private func pass(of worker: inout some MaintenanceWorker, _ failures: inout RepeatedFailures) async -> Date? {
        if worker.isOfLeader, !leads() { return time.now.addingTimeInterval(Store.leaderCheckInterval) }
        do {
            let next = try await worker.pass()
            if failures.end() { log.notice("fetchd can \(worker.purpose) again.") }
            return next
        } catch {
            if let count = failures.note(at: time.uptime) {
                log.error(
                    "Could not \(worker.purpose): \(error). fetchd tries again in \(Self.text(retryInterval)).\(RepeatedFailures.suffix(count))"
                )
            }
            return time.now.addingTimeInterval(retryInterval)
        }
    }

    private func wait(until next: Date?, or trigger: AsyncAutoResetEvent?) async {
        if let trigger { return await trigger.wait(until: next, by: time) }
        // If the task was cancelled, the sleep throws, and the loop ends.
        try? await time.sleep(until: next ?? .distantFuture)
    }

    private static func text(_ seconds: TimeInterval) -> String {
        seconds == 1 ? "a second" : "\(seconds.formatted()) seconds"
    }
}
