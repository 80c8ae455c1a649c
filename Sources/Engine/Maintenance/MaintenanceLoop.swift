import Foundation
import Locks
import Logging
import Storage

/// Repeats the passes of a background worker until its task is cancelled. A pass that throws is logged, and repeated
/// after `retryInterval`.
struct MaintenanceLoop: Sendable {
    /// Whether this node does the work of the leader.
    var leads: @Sendable () -> Bool = { true }
    let time: any TimeSource
    let log: Logger
    /// Seconds between a failed pass and the next one.
    let retryInterval: TimeInterval

    func run(_ worker: some MaintenanceWorker) async {
        var worker = worker
        while !Task.isCancelled {
            let next = await pass(of: &worker)
            await wait(until: next, or: worker.trigger)
        }
    }

    private func pass(of worker: inout some MaintenanceWorker) async -> Date? {
        if worker.isOfLeader, !leads() { return time.now.addingTimeInterval(Store.leaderCheckInterval) }
        do {
            return try await worker.pass()
        } catch {
            log.error("Could not \(worker.purpose): \(error). fetchd tries again in \(Self.text(retryInterval)).")
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
