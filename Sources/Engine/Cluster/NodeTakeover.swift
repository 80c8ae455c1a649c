import Downloads
import Foundation
import Locks
import Storage

/// Takes over the jobs of nodes whose leases have ended.
struct NodeTakeover: MaintenanceWorker {
    let services: EngineServices

    let purpose = "take over the jobs of a node that has ended"
    var trigger: AsyncAutoResetEvent? { services.store.work(.nodes) }

    func pass() async throws -> Date? {
        // If the answer to an earlier commit was lost, promotions were perhaps taken over.
        defer { services.takenPromotions.set() }
        var isComplete = false
        while !isComplete {
            let takeover = try await services.store.takeOverNodes()
            isComplete = takeover.isComplete
            report(takeover)
        }
        return nil
    }

    private func report(_ takeover: Takeover) {
        for node in takeover.nodes {
            services.log.warning("Node \(node) did not renew its lease. Its jobs continue on other nodes.")
        }
        guard takeover.queued + takeover.promoting > 0 else { return }
        services.log.notice(
            "This node has taken over jobs. Queued again: \(takeover.queued). Promotions continued: \(takeover.promoting)."
        )
    }
}
