import Downloads
import Formats
import Foundation
import Storage

/// Logs one warning for each finish whose acknowledgement is awaited and does not come in time: the downloads are done, but
/// no program has taken the files. It corresponds to a completion handler of a background URLSession that is never called.
struct AcknowledgementMonitor: MaintenanceWorker {
    let services: EngineServices
    /// Seconds for which a finish may stay unacknowledged before the warning.
    let patience: TimeInterval
    /// Minimum number of seconds between two passes.
    let interval: TimeInterval

    let purpose = "read the finishes that are not acknowledged"
    let isOfLeader = true

    /// The database knows the finishes with a warning, so a restart does not repeat it.
    func pass() async throws -> Date? {
        while true {
            let waiting = try await services.store.unreportedFinishes()
            let overdue = Array(waiting.prefix(while: isOverdue))
            for finish in try await services.store.reportFinishes(overdue) { warn(finish) }
            if overdue.isEmpty || overdue.count < waiting.count { return nextPass(waiting.dropFirst(overdue.count)) }
        }
    }

    private func isOverdue(_ finish: UnacknowledgedFinish) -> Bool {
        services.time.now.timeIntervalSince(finish.agingSince) >= patience
    }

    private func warn(_ finish: UnacknowledgedFinish) {
        services.log.warning(
            """
            The finish of batch \(finish.batch) of session \(finish.session) (event \(finish.event)) was never \
            acknowledged since \(finish.since.rfc3339). Not every webhook that receives the event has accepted it, and no \
            client has called POST /v1/sessions/\(finish.session)/acknowledge. If no program acknowledges the finishes of \
            this session, set its acknowledgement to "none".
            """)
    }

    /// A finish that is stored after this pass becomes overdue `patience` later at the earliest.
    private func nextPass(_ pending: ArraySlice<UnacknowledgedFinish>) -> Date {
        let earliest = (pending.first?.agingSince ?? services.time.now).addingTimeInterval(patience)
        return max(earliest, services.time.now.addingTimeInterval(interval))
    }
}
