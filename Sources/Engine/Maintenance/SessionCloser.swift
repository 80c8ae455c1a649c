import Downloads
import Foundation
import Storage

/// Forgets deleted sessions once everything they owed is settled, with the parts of their jobs; files stay.
struct SessionCloser: Sendable {
    let services: EngineServices

    func run() async {
        while !Task.isCancelled {
            var next: Date?
            do {
                try await close()
            } catch {
                services.log.error("Could not close deleted sessions: \(error). Trying again in a second.")
                next = services.time.now.addingTimeInterval(1)
            }
            await services.store.work(.sessions).wait(until: next, by: services.time)
        }
    }

    /// Those with an action under way stay until its end, which rings.
    func close() async throws {
        while true {
            let steps = try await services.store.removeSettledSessions { [leases = services.leases] in leases.sessions }
            for step in steps {
                for part in step.dropped { services.folder.removePart(part) }
                if step.isGone { services.log.info("Session \(step.session) is settled and gone.") }
            }
            if steps.isEmpty { return }
        }
    }
}
