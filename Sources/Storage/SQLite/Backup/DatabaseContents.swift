import Downloads
import GRDB

/// How much a database holds, for the report of a backup or a check.
public struct DatabaseContents: Sendable, Equatable {
    /// The schema version.
    public var schema: Int
    public var sessions: Int
    public var jobs: Int
    public var events: Int
    public var webhooks: Int
    public var deliveries: Int
    /// The last event that was assigned; 0 if there was none.
    public var lastEvent: EventID

    init(readFrom db: Database) throws {
        func count(_ table: String) throws -> Int { try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0 }
        schema = try Schema.number(of: db)
        sessions = try count("sessions")
        jobs = try count("jobs")
        events = try count("events")
        webhooks = try count("webhooks")
        deliveries = try count("deliveries")
        lastEvent = try Store.lastEvent(in: SQLConnection(db))
    }
}

extension DatabaseContents: CustomStringConvertible {
    public var description: String {
        let counts = [
            Self.counted(jobs, "job", "jobs"), Self.counted(sessions, "session", "sessions"),
            Self.counted(events, "event", "events"), Self.counted(webhooks, "webhook", "webhooks"),
        ]
        let deliveries = Self.counted(deliveries, "delivery", "deliveries")
        return "\(counts.joined(separator: ", ")) and \(deliveries); schema version \(schema)"
    }

    private static func counted(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}
