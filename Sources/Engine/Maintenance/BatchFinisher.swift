import Downloads
import Foundation
import Locks
import Storage

/// Finishes batches that are due. A batch that became due while fetchd did not run is finished at the start.
struct BatchFinisher: MaintenanceWorker {
    let services: EngineServices

    let purpose = "finish batches"
    let isOfLeader = true
    var trigger: AsyncAutoResetEvent? { services.store.work(.batches) }

    func pass() async throws -> Date? {
        for batch in try await services.store.finishDueBatches() {
            services.log.info(
                "Batch \(batch.number) of session \(batch.session) finished: \(batch.outcome.rawValue).",
                metadata: ["session": "\(batch.session)", "batch": .stringConvertible(batch.number)])
        }
        return try await services.store.nextBatchDue()
    }
}
