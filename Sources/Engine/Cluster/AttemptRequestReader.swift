import Downloads
import Foundation
import Locks
import Storage

/// Does with the attempts of this node what clients have asked other nodes for: stops them, or gives them changed
/// specifications.
struct AttemptRequestReader: MaintenanceWorker {
    let services: EngineServices
    let active: ActiveAttempts

    let purpose = "read the requests of other nodes"
    var trigger: AsyncAutoResetEvent? { services.store.work(.attempts) }

    func pass() async throws -> Date? {
        let requests = try await services.store.attemptRequests()
        // An attempt begins directly after the commit that admits its job.
        let (present, missed) = (requests.filter { active[$0.job] != nil }, requests.filter { active[$0.job] == nil })
        for request in present {
            if let stop = request.stop { active[request.job]?.control.requestStop(.decided(stop)) }
        }
        let changed = present.filter { $0.stop == nil }.map(\.job)
        try await services.store.takeChangedSpecifications(of: changed) { [active] jobs in
            for job in jobs { active[job.id]?.take(job.spec) }
        }
        return missed.isEmpty ? nil : services.time.now.addingTimeInterval(Self.secondLook)
    }

    private static let secondLook: TimeInterval = 0.2
}
