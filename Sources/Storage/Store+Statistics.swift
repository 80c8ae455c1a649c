import Downloads
import Foundation

extension Store {
    public var activity: DatabaseActivity {
        DatabaseActivity(statements: engine.statements, commits: engine.commits)
    }

    /// Reads rows that are kept, so it takes the same time for any number of jobs and deliveries.
    public func statistics() async throws(StoreError) -> StoreStatistics {
        try await read { db in
            let (jobs, sessions) = try SessionCounts.total(in: db)
            let service = try ServiceCounts.read(in: db)
            let webhooks = try db.rows("SELECT state, count(*) AS n FROM webhooks GROUP BY state")
            return StoreStatistics(
                jobs: jobs.byState, sessions: sessions,
                webhooks: try Dictionary(
                    uniqueKeysWithValues: webhooks.map { (try $0.named("state", as: Webhook.State.Name.self), $0["n"]) }
                ),
                pendingDeliveries: service.pendingDeliveries, settledDeliveries: service.settledDeliveries,
                lastEvent: try Self.lastEvent(in: db), unacknowledgedFinishes: service.unacknowledgedFinishes)
        }
    }
}
