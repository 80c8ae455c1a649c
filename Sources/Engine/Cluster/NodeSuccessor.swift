import Downloads
import Foundation
import Locks
import Storage

/// Takes over the jobs of nodes whose leases have ended.
struct NodeSuccessor: MaintenanceWorker {
    let services: EngineServices

    let purpose = "take over the jobs of a node that has ended"
    var trigger: AsyncAutoResetEvent? { services.store.work(.nodes) }

    func pass() async throws -> Date? {
        // If the answer to an earlier commit was lost, promotions were perhaps taken over.
        defer { services.takenPromotions.set() }
        var isComplete = false
        while !isComplete {
            let succession = try await services.store.succeedNodes()
            isComplete = succession.isComplete
            report(succession)
        }
        return nil
    }

    private func report(_ succession: Succession) {
        for node in succession.nodes {
            services.log.warning("Node \(node) did not renew its lease. Its jobs continue on other nodes.")
        }
        guard succession.queued + succession.promoting > 0 else { return }
        services.log.notice(
            "Taken over: \(succession.queued) jobs queued again, \(succession.promoting) promotions continued.")
    }
}
