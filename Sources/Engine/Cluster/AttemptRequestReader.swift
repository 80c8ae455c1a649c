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
        // An attempt begins directly after the commit that admits its job, and can have ended since the read.
        let found = requests.map { (request: $0, attempt: active.attempt(of: $0.job, admission: $0.admission)) }
        for case (let request, let attempt?) in found {
            if let stop = request.stop { attempt.control.requestStop(.decided(stop)) }
        }
        let changed = found.filter { $0.request.stop == nil && $0.attempt != nil }.map(\.request.job)
        try await services.store.takeChangedSpecifications(of: changed) { [active] jobs in
            for job in jobs { active[job.id]?.take(job.spec) }
        }
        let areAllFound = found.allSatisfy { $0.attempt != nil }
        return areAllFound ? nil : services.time.now.addingTimeInterval(Self.secondLook)
    }

    private static let secondLook: TimeInterval = 0.2
}
