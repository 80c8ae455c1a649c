import Downloads
import GRDB

/// The queued jobs as admission reads them. Every read takes a few steps in an index, for any number of queued jobs.
struct AdmissionQueue {
    private let transaction: Transaction
    private var priority = 0
    /// Sessions that have no admissible job of this priority.
    private var skipped: Set<Name> = []
    private var sessions: [Name]?

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// The session that is next: of the sessions with queued jobs of the highest priority, the one with the fewest
    /// running jobs. nil when no session is left.
    mutating func nextSession(_ slots: AdmissionSlots) throws -> Name? {
        while priority <= Priority.lowestRank {
            let waiting = try sessions ?? sessionsWaiting()
            sessions = waiting
            let left = waiting.filter { !skipped.contains($0) }
            if let next = left.min(by: { slots.running(in: $0) < slots.running(in: $1) }) { return next }
            priority += 1
            skipped = []
            sessions = nil
        }
        return nil
    }

    mutating func skip(_ session: Name) { skipped.insert(session) }

    /// Seeks from one session name to the next in the index.
    private func sessionsWaiting() throws -> [Name] {
        try transaction.rows(
            """
            WITH RECURSIVE names (name) AS (
                SELECT min(session) FROM jobs WHERE state = 'queued' AND held_until IS NULL AND priority = :priority
                UNION ALL
                SELECT (SELECT min(session) FROM jobs
                    WHERE state = 'queued' AND held_until IS NULL AND priority = :priority AND session > name)
                FROM names WHERE name IS NOT NULL
            ) SELECT name FROM names WHERE name IS NOT NULL
            """, ["priority": priority]
        ).map { Name(trusted: $0["name"]) }
    }

    /// The oldest job of a session whose host has a free connection; nil when there is none, or when the session is at
    /// its limit.
    func oldestJob(of session: Name, _ slots: AdmissionSlots, _ configuration: SessionConfiguration) throws -> (
        job: JobID, host: String
    )? {
        guard slots.hasRoom(for: session, configuration) else { return nil }
        let oldest = try transaction.rows(Self.oldest, [priority, session.text, Self.probe])
        let candidate =
            try oldest.first { slots.hasRoom(at: $0["host"], for: session, configuration) }
            ?? (oldest.count < Self.probe ? nil : oldestElsewhere(session, slots, configuration))
        return candidate.map { (JobID($0["id"]), $0["host"]) }
    }

    static let oldest = """
        SELECT id, host FROM jobs WHERE state = 'queued' AND held_until IS NULL AND priority = ? AND session = ?
        ORDER BY id LIMIT ?
        """

    /// The number of jobs that are read one by one before the query by host. This skips a few jobs that wait for a full
    /// host.
    private static let probe = 32

    /// Finds the oldest job of each host, and takes the oldest whose host has a free connection. A thousand jobs that
    /// wait for one full host cost one step.
    private func oldestElsewhere(
        _ session: Name, _ slots: AdmissionSlots, _ configuration: SessionConfiguration
    ) throws -> Row? {
        let oldest = try transaction.rows(
            """
            WITH RECURSIVE hosts (host) AS (
                SELECT min(host) FROM jobs
                    WHERE state = 'queued' AND held_until IS NULL AND priority = :priority AND session = :session
                UNION ALL
                SELECT (SELECT min(host) FROM jobs WHERE state = 'queued' AND held_until IS NULL
                    AND priority = :priority AND session = :session AND host > hosts.host)
                FROM hosts WHERE host IS NOT NULL
            )
            SELECT host, (SELECT min(id) FROM jobs WHERE state = 'queued' AND held_until IS NULL
                AND priority = :priority AND session = :session AND jobs.host = hosts.host) AS id
            FROM hosts WHERE host IS NOT NULL ORDER BY id
            """, ["priority": priority, "session": session.text])
        return oldest.first { slots.hasRoom(at: $0["host"], for: session, configuration) }
    }
}
