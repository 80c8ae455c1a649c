import Downloads
import GRDB

/// The queued jobs as admission reads them. Every read takes a few steps in an index, for any number of queued jobs.
struct AdmissionQueue {
    private let transaction: Transaction
    private var priority = 0
    /// Sessions that have no admissible job of this priority.
    private var skipped: Set<Name> = []
    private var sessions: [Name]?
    /// The oldest queued jobs of sessions that were read and not admitted, of this priority.
    private var oldest: [Name: ArraySlice<Candidate>] = [:]

    /// The tokens whose jobs are left out.
    private var omitted: [TokenID]

    typealias Candidate = (job: JobID, host: String)

    init(_ transaction: Transaction, without omitted: Set<TokenID> = []) {
        self.transaction = transaction
        self.omitted = Array(omitted)
    }

    /// Leaves out the jobs of these tokens from now on.
    mutating func leaveOut(_ tokens: Set<TokenID>) {
        omitted = Array(tokens)
        oldest = [:]
    }

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
            oldest = [:]
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

    /// Takes the oldest job of a session whose host has a free connection; nil when there is none, or when the session is
    /// at its limit.
    mutating func takeOldestJob(
        of session: Name, _ slots: AdmissionSlots, _ configuration: SessionConfiguration
    ) throws -> Candidate? {
        guard slots.hasRoom(for: session, configuration) else { return nil }
        let hasRoom = { (job: Candidate) in slots.hasRoom(at: job.host, for: session, configuration) }
        if let known = takeFirst(of: session, where: hasRoom) { return known }
        let read = try transaction.rows(
            Self.oldest(without: omitted.count),
            ["priority": priority, "session": session.text, "limit": Self.probe] + omission
        ).map(Self.candidate)
        oldest[session] = read[...]
        if let first = takeFirst(of: session, where: hasRoom) { return first }
        return read.count < Self.probe ? nil : try oldestElsewhere(session).first(where: hasRoom)
    }

    /// Of the jobs that were read. Older jobs than these are not queued.
    private mutating func takeFirst(of session: Name, where hasRoom: (Candidate) -> Bool) -> Candidate? {
        guard let index = oldest[session]?.firstIndex(where: hasRoom) else { return nil }
        return oldest[session]?.remove(at: index)
    }

    private static func candidate(_ row: Row) -> Candidate { (JobID(row["id"]), row["host"]) }

    /// - Parameter count: the number of tokens whose jobs are left out. Each of these jobs that is older than the result is
    ///   read, but the index has no token, so that it costs no space for jobs without one.
    static func oldest(without count: Int) -> String {
        """
        SELECT id, host FROM jobs WHERE state = 'queued' AND held_until IS NULL AND priority = :priority
            AND session = :session\(condition(without: count))
        ORDER BY id LIMIT :limit
        """
    }

    private static func condition(without count: Int) -> String {
        guard count > 0 else { return "" }
        let names = (0..<count).map { ":token\($0)" }.joined(separator: ", ")
        return " AND (token IS NULL OR token NOT IN (\(names)))"
    }

    /// The arguments of `condition`.
    private var omission: StatementArguments {
        var arguments: [String: (any DatabaseValueConvertible)?] = [:]
        for (index, token) in omitted.enumerated() { arguments["token\(index)"] = token.text }
        return StatementArguments(arguments)
    }

    /// The number of jobs that are read before the query by host. This skips a few jobs that wait for a full host.
    private static let probe = 32

    /// The oldest job of each host, oldest first. A thousand jobs that wait for one full host cost one step.
    private func oldestElsewhere(_ session: Name) throws -> [Candidate] {
        try transaction.rows(
            """
            WITH RECURSIVE hosts (host) AS (
                SELECT min(host) FROM jobs
                    WHERE state = 'queued' AND held_until IS NULL AND priority = :priority AND session = :session
                UNION ALL
                SELECT (SELECT min(host) FROM jobs WHERE state = 'queued' AND held_until IS NULL
                    AND priority = :priority AND session = :session AND host > hosts.host)
                FROM hosts WHERE host IS NOT NULL
            )
            SELECT host, id FROM (
                SELECT host, (SELECT min(id) FROM jobs WHERE state = 'queued' AND held_until IS NULL
                    AND priority = :priority AND session = :session AND jobs.host = hosts.host
                    \(Self.condition(without: omitted.count))) AS id
                FROM hosts WHERE host IS NOT NULL)
            WHERE id IS NOT NULL ORDER BY id
            """, ["priority": priority, "session": session.text] + omission
        ).map(Self.candidate)
    }
}
