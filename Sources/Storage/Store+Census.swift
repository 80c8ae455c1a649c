import Downloads
import Foundation
import GRDB

/// How much of everything there is, for metrics.
public struct Census: Sendable, Equatable {
    public var jobs: [JobState.Name: Int]
    public var sessions: Int
    public var webhooks: [Webhook.State.Name: Int]
    public var pendingDeliveries: Int
    /// Settled ones, as long as the journal remembers them.
    public var settledDeliveries: [Delivery.State.Name: Int]
    public var lastEvent: EventID
    public var unacknowledgedFinishes: Int
}

extension Store {
    public func census() throws(StoreError) -> Census {
        try read { db in
            func number(_ sql: String) throws -> Int { try Int.fetchOne(db.cachedStatement(sql: sql)) ?? 0 }
            func numbers<Key: RawRepresentable<String>>(_ type: Key.Type, _ sql: String) throws -> [Key: Int] {
                let rows = try Row.fetchAll(db.cachedStatement(sql: sql))
                return try Dictionary(uniqueKeysWithValues: rows.map { (try $0.named("state", as: type), $0["n"]) })
            }
            return Census(
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
