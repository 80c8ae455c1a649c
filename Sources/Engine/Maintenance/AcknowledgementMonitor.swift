import Downloads
import Formats
import Foundation
import Storage

/// Logs a warning for each finish that no client has acknowledged in time: the downloads are done, but no program has
/// taken the files. It corresponds to a completion handler of a background URLSession that is never called.
struct AcknowledgementMonitor: MaintenanceWorker {
    let services: EngineServices
    /// Seconds for which a finish may stay unacknowledged before the warning.
    let patience: TimeInterval
    /// Minimum number of seconds between two passes.
    let interval: TimeInterval
    /// The finishes with a warning. They are lost at a restart, so each warning is then logged once more.
    private var warned: Set<EventID> = []

    init(services: EngineServices, patience: TimeInterval, interval: TimeInterval) {
        self.services = services
        self.patience = patience
        self.interval = interval
    }

    let purpose = "read the finishes that are not acknowledged"
    let isOfLeader = true

    mutating func pass() async throws -> Date? {
        let waiting = try await services.store.unacknowledgedFinishes()
        warned.formIntersection(waiting.map(\.event))
        for finish in waiting where isOverdue(finish) && warned.insert(finish.event).inserted { warn(finish) }
        return nextPass(waiting.filter { !warned.contains($0.event) })
    }

    private func isOverdue(_ finish: UnacknowledgedFinish) -> Bool {
        services.time.now.timeIntervalSince(finish.agingSince) >= patience
    }

    private func warn(_ finish: UnacknowledgedFinish) {
        services.log.warning(
            """
            The finish of batch \(finish.batch) of session \(finish.session) (event \(finish.event)) was never \
            acknowledged since \(finish.since.rfc3339). Not every webhook that receives the event has accepted it, and no \
            client has called POST /v1/sessions/\(finish.session)/acknowledge.
            """)
    }

    /// A finish that is stored after this pass becomes overdue `patience` later at the earliest.
    private func nextPass(_ pending: [UnacknowledgedFinish]) -> Date {
        let earliest = (pending.map(\.agingSince).min() ?? services.time.now).addingTimeInterval(patience)
        return max(earliest, services.time.now.addingTimeInterval(interval))
    }
}
