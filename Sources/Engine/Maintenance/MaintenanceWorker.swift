import Foundation
import Locks
import Storage

/// A background worker of the engine. It works in passes; `MaintenanceLoop` repeats them until the engine stops.
///
/// A pass does everything that is due when it begins. It can be repeated: after an error or a crash the next pass does the
/// rest.
protocol MaintenanceWorker: Sendable {
    /// The work, as a log line ends that begins with "Could not": `finish batches`.
    var purpose: String { get }
    /// Rings when a commit makes work due. nil: only the clock does.
    var trigger: AsyncAutoResetEvent? { get }

    /// Does the work that is due.
    ///
    /// - Returns: when to begin the next pass unless `trigger` rings before; nil: only when it rings.
    mutating func pass() async throws -> Date?
}

extension MaintenanceWorker {
    var trigger: AsyncAutoResetEvent? { nil }
}
