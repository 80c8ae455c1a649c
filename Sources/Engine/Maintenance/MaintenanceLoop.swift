import Base
import Foundation
import Logging
import Storage

/// A background worker of the engine. `MaintenanceLoop` repeats its passes until the engine stops.
///
/// A pass does all work that is due when it begins. It can be repeated: after an error or a crash the next pass does
/// the remaining work.
protocol MaintenanceWorker: Sendable {
    /// The work, as it completes a log line that begins with "Could not": `finish batches`.
    var purpose: String { get }
    /// Set when a commit makes work due; nil when only the time does.
    var trigger: AsyncAutoResetEvent? { get }
    /// Whether one node does the work for all that share a database: the leader.
    var isOfLeader: Bool { get }
    /// Whether the work may only be done while this node has its lease.
    var needsLease: Bool { get }

    /// Does the work that is due.
    ///
    /// - Returns: when to begin the next pass unless `trigger` is set before; nil: only when `trigger` is set.
    mutating func pass() async throws -> Date?
}

extension MaintenanceWorker {
    var trigger: AsyncAutoResetEvent? { nil }
    var isOfLeader: Bool { false }
    var needsLease: Bool { false }
}

/// Repeats the passes of a background worker until its task is cancelled. A pass that throws is repeated after `retryInterval`.
/// The log has the first of such failures, one of each later minute, and their end.
struct MaintenanceLoop: Sendable {
    /// Whether this node does the work of the leader.
    var leads: @Sendable () -> Bool = { true }
    /// Whether this node has its lease. This is the one place that asks for it before work begins.
    var holdsLease: @Sendable () -> Bool = { true }
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
        if worker.needsLease, !holdsLease() { return time.now.addingTimeInterval(Self.leaseCheckInterval) }
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

    private static let leaseCheckInterval: TimeInterval = 1

    private static func text(_ seconds: TimeInterval) -> String {
        seconds == 1 ? "a second" : "\(seconds.formatted()) seconds"
    }
}
