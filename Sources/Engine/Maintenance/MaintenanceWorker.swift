import Foundation
import Locks
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

    /// Does the work that is due.
    ///
    /// - Returns: when to begin the next pass unless `trigger` is set before; nil: only when `trigger` is set.
    mutating func pass() async throws -> Date?
}

extension MaintenanceWorker {
    var trigger: AsyncAutoResetEvent? { nil }
    var isOfLeader: Bool { false }
}
