import Downloads
import Foundation
import Locks
import Storage

/// Takes over the jobs of nodes that have ended without a farewell, and their promotions if this node has the files.
struct NodeSuccessor: MaintenanceWorker {
    let services: EngineServices
    let promoter: Promoter

    let purpose = "take over the jobs of a node that has ended"
    var trigger: AsyncAutoResetEvent? { services.store.work(.nodes) }

    mutating func pass() async throws -> Date? {
        var isComplete = false
        while !isComplete {
            let succession = try await services.store.succeedNodes()
            isComplete = succession.isComplete
            report(succession)
            try await promoter.complete(succession.promoting, services)
        }
        return nil
    }

    private func report(_ succession: Succession) {
        for node in succession.nodes {
            services.log.warning("Node \(node) did not renew its lease. Its jobs continue on other nodes.")
        }
        guard succession.queued + succession.promoting.count > 0 else { return }
        services.log.notice(
            "Taken over: \(succession.queued) jobs queued again, \(succession.promoting.count) promotions continued.")
    }
}
