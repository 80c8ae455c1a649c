import Downloads

enum EventRow {
    static func event(_ row: SQLRow) throws -> Event {
        Event(
            id: row["id"], type: try row.named("type", as: EventType.self), time: row.time("time"),
            session: Name(trusted: row["session"]), job: (row["job"] as String?).map { JobID($0) },
            data: row["data"])
    }
}
