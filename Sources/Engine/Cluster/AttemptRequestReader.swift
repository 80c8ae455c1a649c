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
        var (read, hasMissed): ([JobID], Bool) = ([], false)
        for request in requests {
            guard let attempt = active[request.job] else {
                // The attempt begins directly after the commit that admits its job.
                hasMissed = true
                continue
            }
            if let stop = request.stop {
                attempt.control.requestStop(.decided(stop))
            } else if let job = try? await services.store.job(request.job) {
                attempt.take(job.spec)
                read.append(job.id)
            }
        }
        try await services.store.forgetReadings(of: read)
        return hasMissed ? services.time.now.addingTimeInterval(Self.secondLook) : nil
    }

    private static let secondLook: TimeInterval = 0.2
}
