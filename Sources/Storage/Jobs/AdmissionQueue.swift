import Downloads

/// The queued jobs as admission reads them. Every read takes a few steps in an index, for any number of queued jobs.
struct AdmissionQueue {
    private let transaction: Transaction
    private var priority = 0
    /// Sessions that have no admissible job of this priority.
    private var skipped: Set<Name> = []
    /// The sessions with queued jobs of this priority, and the lanes that these jobs are in.
    private var sessions: [Name: [QueueLane]]?
    /// The first jobs of each lane that were read and not admitted, of this priority.
    private var first: [Lane: ArraySlice<Candidate>] = [:]
    /// The tokens whose jobs are left out.
    private var omitted: [TokenID]
    /// Services that have the parts of jobs in their own folders: these jobs are left to them.
    private let owners: Set<Int64>

    struct Candidate {
        let job: JobID
        let host: String
        let rank: QueueRank
    }

    private struct Lane: Hashable {
        let session: Name
        let lane: QueueLane
    }

    init(_ transaction: Transaction, without omitted: Set<TokenID> = [], leavingTo owners: Set<Int64> = []) {
        self.transaction = transaction
        self.owners = owners
        self.omitted = Array(omitted)
    }

    mutating func leaveOut(_ tokens: Set<TokenID>) {
        omitted = Array(tokens)
        first = [:]
    }

    /// The session that is next: of the sessions with queued jobs of the highest priority, the one with the fewest
    /// running jobs. nil when no session is left.
    mutating func nextSession(_ slots: AdmissionSlots) throws -> Name? {
        while priority <= Priority.lowestRank {
            let waiting = try sessions ?? sessionsWaiting()
            sessions = waiting
            let left = waiting.keys.filter { !skipped.contains($0) }
            // Equal sessions take turns by name.
            let next = left.min { (slots.running(in: $0), $0.text) < (slots.running(in: $1), $1.text) }
            if let next { return next }
            priority += 1
            skipped = []
            sessions = nil
            first = [:]
        }
        return nil
    }

    mutating func skip(_ session: Name) { skipped.insert(session) }

    /// Seeks from one session name to the next in the indexes.
    private func sessionsWaiting() throws -> [Name: [QueueLane]] {
        try transaction.rows(Self.sessionsWaiting, ["priority": priority]).reduce(into: [:]) { sessions, row in
            try sessions[Name(trusted: row["name"]), default: []].append(row["moved"] ? .moved : .unmoved)
        }
    }

    static let sessionsWaiting = """
        WITH RECURSIVE \(names("unmoved_names", in: .unmoved)), \(names("moved_names", in: .moved))
        SELECT name, 0 AS moved FROM unmoved_names WHERE name IS NOT NULL
        UNION ALL SELECT name, 1 FROM moved_names WHERE name IS NOT NULL
        """

    private static func names(_ table: String, in lane: QueueLane) -> String {
        """
        \(table) (name) AS (
            SELECT (SELECT session FROM jobs WHERE \(lane.condition) AND priority = :priority
                ORDER BY \(lane.ordered("session")) LIMIT 1)
            UNION ALL
            SELECT (SELECT session FROM jobs
                WHERE \(lane.condition) AND priority = :priority AND \(lane.ordered("session")) > name
                ORDER BY \(lane.ordered("session")) LIMIT 1)
            FROM \(table) WHERE name IS NOT NULL
        )
        """
    }

    mutating func takeFirstJob(
        of session: Name, _ slots: AdmissionSlots, _ configuration: SessionConfiguration
    ) throws -> Candidate? {
        guard slots.hasRoom(for: session, configuration) else { return nil }
        let hasRoom = { (job: Candidate) in slots.hasRoom(at: job.host, for: session, configuration) }
        var best: (lane: Lane, job: Candidate)?
        for lane in sessions?[session] ?? [] {
            let lane = Lane(session: session, lane: lane)
            guard let job = try firstJob(in: lane, slots.free, where: hasRoom) else { continue }
            if best.map({ job.rank < $0.job.rank }) ?? true { best = (lane, job) }
        }
        guard let best else { return nil }
        first[best.lane]?.removeAll { $0.job == best.job.job }
        return best.job
    }

    /// - Parameter free: the number of jobs that may begin.
    private mutating func firstJob(
        in lane: Lane, _ free: Int, where hasRoom: (Candidate) -> Bool
    ) throws -> Candidate? {
        // Of the jobs that were read. Jobs before these are not queued.
        if let known = first[lane]?.first(where: hasRoom) { return known }
        let read = try transaction.rows(
            Self.first(in: lane.lane, without: omitted.count, leavingTo: owners),
            ["priority": priority, "session": lane.session.text] + omission
        ).map(Self.candidate)
        first[lane] = read[...]
        try transaction.prefetch(read.filter(hasRoom).prefix(free).map(\.job))
        if let job = read.first(where: hasRoom) { return job }
        return read.count < Self.probe ? nil : try firstElsewhere(lane).first(where: hasRoom)
    }

    private static func candidate(_ row: SQLRow) throws -> Candidate {
        try Candidate(job: JobID(row["id"]), host: row["host"], rank: QueueRank(row["rank"] as String))
    }

    /// - Parameters:
    ///   - count: the number of tokens whose jobs are left out. Each of these jobs that is before the result is read, but the
    ///     index has no token, so that it costs no space for jobs without one.
    ///   - owners: services that have the parts of jobs in their own folders: these jobs are left out.
    static func first(in lane: QueueLane, without count: Int, leavingTo owners: Set<Int64> = []) -> String {
        """
        SELECT id, host, \(lane.rank) AS rank FROM jobs INDEXED BY \(lane.index)
        WHERE \(lane.ofSession)\(condition(without: count))\(condition(leavingTo: owners))
        ORDER BY \(lane.ordered(lane.rank)) LIMIT \(probe)
        """
    }

    private static func condition(without count: Int) -> String {
        guard count > 0 else { return "" }
        let names = (0..<count).map { ":token\($0)" }.joined(separator: ", ")
        return " AND (token IS NULL OR token NOT IN (\(names)))"
    }

    /// Only for PostgreSQL. A part without an owner belongs to `Store.firstNode`.
    private static func condition(leavingTo owners: Set<Int64>) -> String {
        guard !owners.isEmpty else { return "" }
        let numbers = owners.sorted().map { "'\($0)'" }.joined(separator: ", ")
        return """
             AND NOT EXISTS (SELECT 1 FROM parts WHERE parts.job = jobs.id
                AND coalesce(nullif(split_part(split_part(split_part(parts.id, '@', 1), '-', 2), '.', 1), ''),
                    (SELECT CAST(first_node AS text) FROM journal)) IN (\(numbers)))
            """
    }

    /// The arguments of `condition`.
    private var omission: SQLArguments {
        var arguments: SQLArguments = [:]
        for (index, token) in omitted.enumerated() { arguments.set("token\(index)", token.text) }
        return arguments
    }

    /// The number of jobs that are read before the query by host. This skips a few jobs that wait for a full host.
    /// It stands in the statement, because PostgreSQL takes an unknown limit for a tenth of all rows.
    private static let probe = 32

    /// The first job of each host, in the order of their ranks. A thousand jobs that wait for one full host cost one step.
    private func firstElsewhere(_ lane: Lane) throws -> [Candidate] {
        try transaction.rows(
            Self.firstOfHosts(in: lane.lane, without: omitted.count, leavingTo: owners),
            ["priority": priority, "session": lane.session.text] + omission
        ).map(Self.candidate)
    }

    /// The two conditions on the host are an equality that the planner does not see: it would be content with the order of the
    /// ranks then, and could read the jobs of all hosts in it.
    static func firstOfHosts(in lane: QueueLane, without count: Int, leavingTo owners: Set<Int64> = []) -> String {
        let host = lane.ordered("host")
        return """
            WITH RECURSIVE hosts (host) AS (
                SELECT (SELECT host FROM jobs WHERE \(lane.ofSession) ORDER BY \(host) LIMIT 1)
                UNION ALL
                SELECT (SELECT host FROM jobs WHERE \(lane.ofSession) AND \(host) > hosts.host
                    ORDER BY \(host) LIMIT 1)
                FROM hosts WHERE host IS NOT NULL
            )
            SELECT host, id, \(lane.rankOfFirst) AS rank FROM (
                SELECT host, (SELECT id FROM jobs WHERE \(lane.ofSession)
                    AND \(lane.ordered("jobs.host")) >= hosts.host AND \(lane.ordered("jobs.host")) <= hosts.host
                    \(condition(without: count))\(condition(leavingTo: owners))
                    ORDER BY \(lane.ordered("jobs.host")), \(lane.ordered(lane.rank)) LIMIT 1) AS id
                FROM hosts WHERE host IS NOT NULL) AS firsts
            WHERE id IS NOT NULL ORDER BY rank
            """
    }
}

/// The queue of a session and priority has two lanes, each with its own indexes: the jobs that were never moved, whose rank
/// is their identifier, and those that a client has moved.
enum QueueLane: CaseIterable {
    case unmoved, moved

    /// The index of the lane's jobs in their order. The statement names it: SQLite would take the index of all moved jobs,
    /// which also has those that have ended.
    var index: String { self == .moved ? "jobs_moved_by_rank" : "jobs_queue_by_age" }

    var rank: String { self == .moved ? "queue_rank" : "id" }

    /// The rank of the job `firsts.id`.
    var rankOfFirst: String { self == .moved ? "(SELECT queue_rank FROM jobs WHERE jobs.id = firsts.id)" : "firsts.id" }

    /// The column as the lane's indexes order it. It is compared by its bytes in any case. PostgreSQL keeps the plans of
    /// statements while the table grows, and could keep one that reads all jobs in the order of another index. Only the
    /// indexes of the queue have this order there (`Index.isOfQueue`).
    func ordered(_ column: String) -> String { "\(column) COLLATE BINARY" }

    /// The jobs of the lane in the session `:session` with the priority `:priority`.
    var ofSession: String { "\(condition) AND priority = :priority AND \(ordered("session")) = :session" }

    /// The condition of the lane's indexes.
    var condition: String {
        "state = 'queued' AND held_until IS NULL AND queue_rank IS \(self == .moved ? "NOT NULL" : "NULL")"
    }
}
