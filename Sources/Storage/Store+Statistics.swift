import Downloads
import Foundation
import GRDB

extension Store {
    public var activity: DatabaseActivity {
        DatabaseActivity(statements: connections.statements.value, commits: writer.commits.value)
    }

    public func statistics() async throws(StoreError) -> StoreStatistics {
        try await read { db in
            func number(_ sql: String) throws -> Int { try Int.fetchOne(db.cachedStatement(sql: sql)) ?? 0 }
            func numbers<Key: RawRepresentable<String>>(_ type: Key.Type, _ sql: String) throws -> [Key: Int] {
                let rows = try Row.fetchAll(db.cachedStatement(sql: sql))
                return try Dictionary(uniqueKeysWithValues: rows.map { (try $0.named("state", as: type), $0["n"]) })
            }
            return StoreStatistics(
                jobs: try numbers(JobState.Name.self, "SELECT state, count(*) AS n FROM jobs GROUP BY state"),
                sessions: try number("SELECT count(*) FROM sessions"),
                webhooks: try numbers(
                    Webhook.State.Name.self, "SELECT state, count(*) AS n FROM webhooks GROUP BY state"),
                pendingDeliveries: try number("SELECT count(*) FROM deliveries WHERE state = 'pending'"),
                settledDeliveries: try numbers(
                    Delivery.State.Name.self,
                    "SELECT state, count(*) AS n FROM deliveries WHERE state <> 'pending' GROUP BY state"),
                lastEvent: try Self.lastEvent(in: db),
                unacknowledgedFinishes: try number("SELECT count(*) FROM batches WHERE state = 'finished'"))
        }
    }
}
