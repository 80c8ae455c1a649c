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
        lastEvent = try Store.lastEvent(in: db)
    }
}

extension DatabaseContents: CustomStringConvertible {
    public var description: String {
        "\(jobs) jobs, \(sessions) sessions, \(events) events, \(webhooks) webhooks and \(deliveries) deliveries; schema version \(schema)"
    }
}
