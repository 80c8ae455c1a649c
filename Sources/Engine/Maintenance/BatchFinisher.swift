import Downloads
import Foundation
import Storage

/// Finishes batches when their time has come; one that was overdue when the service started is finished at once.
struct BatchFinisher: Sendable {
    let services: EngineServices

    func run() async {
        while !Task.isCancelled {
            let next = await finish()
            await services.store.work(.batches).wait(until: next, by: services.time)
        }
    }

    private func finish() async -> Date? {
        do {
            for batch in try await services.store.finishDueBatches() {
                services.log.info(
                    "Batch \(batch.number) of session \(batch.session) finished: \(batch.outcome.rawValue).")
            }
            return try services.store.nextBatchDue()
        } catch {
            services.log.error("Could not finish batches: \(error). Trying again in a second.")
            return services.time.now.addingTimeInterval(1)
        }
    }
}
