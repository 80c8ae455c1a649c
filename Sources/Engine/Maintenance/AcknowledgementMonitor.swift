import Downloads
import Formats
import Foundation
import Storage

/// Says aloud when a finish stays unacknowledged: all was downloaded, and nobody has taken it from here. It is the
/// "completion handler was never called" of a background session.
struct AcknowledgementMonitor: Sendable {
    let services: EngineServices
    /// Seconds a finish may stay unacknowledged before it is told.
    let patience: TimeInterval

    func run() async {
        // Once for each finish that comes to be the oldest of its session, and once more after a restart.
        var told: Set<EventID> = []
        while !Task.isCancelled {
            let waiting = (try? services.store.unacknowledgedFinishes()) ?? []
            told.formIntersection(waiting.map(\.event))
            let overdue = waiting.filter { isOverdue($0) && told.insert($0.event).inserted }
            for finish in overdue { warn(finish) }
            try? await services.time.sleep(until: nextLook(waiting.filter { !told.contains($0.event) }))
        }
    }

    private func isOverdue(_ finish: UnacknowledgedFinish) -> Bool {
        services.time.now.timeIntervalSince(finish.agingSince) >= patience
    }

    private func warn(_ finish: UnacknowledgedFinish) {
        services.log.warning(
            """
            The finish of batch \(finish.batch) of session \(finish.session) (event \(finish.event)) was never \
            acknowledged since \(finish.since.rfc3339): not every webhook it was addressed to took it, and nobody \
            called POST /v1/sessions/\(finish.session)/acknowledge.
            """)
    }

    /// A finish that comes later cannot be overdue before that.
    private func nextLook(_ untold: [UnacknowledgedFinish]) -> Date {
        let soonest = (untold.map(\.agingSince).min() ?? services.time.now).addingTimeInterval(patience)
        return max(soonest, services.time.now.addingTimeInterval(1))
    }
}
