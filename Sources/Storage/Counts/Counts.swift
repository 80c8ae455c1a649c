import Downloads

/// The kept counts of one session: a row of `session_counts`.
struct SessionCounts: Sendable, Equatable {
    var jobs = StateCounts()
    /// The number of the latest batch; 0 before the first.
    var batch = 0
    /// Of the latest batch.
    var progress = BatchProgress()

    init() {}

    init(_ row: SQLRow) throws {
        for (index, state) in JobState.Kind.allCases.enumerated() { jobs[state] = try row[index] }
        let first = JobState.Kind.allCases.count
        batch = try row[first]
        progress = try BatchProgress(
            unsized: row[first + 1], sized: row[first + 2], bytesReceived: row[first + 3], bytesExpected: row[first + 4]
        )
    }

    /// The columns in the order in which `init(_:)` reads them.
    static let columns = (states + ["batch", "unsized", "sized", "received", "expected"]).joined(separator: ", ")
    private static let states = JobState.Kind.allCases.map(\.rawValue)

    static func read(_ session: String, in db: SQLConnection) throws -> SessionCounts {
        try db.row(kept, [session]).map(SessionCounts.init)
            ?? SessionCounts()
    }

    /// The kept counts of all sessions.
    static func readAll(in db: SQLConnection) throws -> [Name: SessionCounts] {
        try all(in: db, from: "session_counts")
    }

    /// Counts the jobs of all sessions one by one.
    static func recountAll(in db: SQLConnection) throws -> [Name: SessionCounts] {
        try all(in: db, from: "(\(counted)) AS counted")
    }

    private static func all(in db: SQLConnection, from table: String) throws -> [Name: SessionCounts] {
        let rows = try db.rows("SELECT \(columns), session FROM \(table)")
        return Dictionary(uniqueKeysWithValues: try rows.map { try (Name(trusted: $0["session"]), SessionCounts($0)) })
    }

    /// The jobs of all sessions, and the number of sessions.
    static func total(in db: SQLConnection) throws -> (jobs: StateCounts, sessions: Int) {
        guard let row = try db.row(sums) else { return (StateCounts(), 0) }
        return try (SessionCounts(row).jobs, row["sessions"])
    }

    private static let sums = """
        SELECT \(states.map { "coalesce(sum(\($0)), 0)" }.joined(separator: ", ")), 0, 0, 0, 0, 0, count(*) AS sessions
        FROM session_counts
        """
    private static let kept = "SELECT \(columns) FROM session_counts WHERE session = ?"

    /// Counts what the rows of `session_counts` keep.
    static let counted = """
        SELECT sessions.id AS session,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'queued'), 0) AS queued,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'running'), 0) AS running,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'waiting'), 0) AS waiting,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'paused'), 0) AS paused,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'succeeded'), 0) AS succeeded,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'failed'), 0) AS failed,
            coalesce(sum(groups.jobs) FILTER (WHERE state = 'cancelled'), 0) AS cancelled,
            coalesce(latest.number, 0) AS batch,
            coalesce(sum(groups.jobs) FILTER (WHERE groups.batch = latest.number
                AND state IN ('queued', 'running', 'waiting', 'paused')), 0) - coalesce(coming.jobs, 0) AS unsized,
            coalesce(sum(groups.jobs) FILTER (WHERE groups.batch = latest.number
                AND state = 'succeeded'), 0) + coalesce(coming.jobs, 0) AS sized,
            coalesce(sum(groups.bytes) FILTER (WHERE groups.batch = latest.number), 0)
                + coalesce(coming.received, 0) AS received,
            coalesce(sum(groups.bytes) FILTER (WHERE groups.batch = latest.number), 0)
                + coalesce(coming.expected, 0) AS expected
        FROM sessions
        LEFT JOIN (
            SELECT session, max(number) AS number FROM batches GROUP BY session
        ) AS latest ON latest.session = sessions.id
        LEFT JOIN (
            SELECT session, batch, state, count(*) AS jobs, coalesce(sum(file_size), 0) AS bytes
            FROM jobs WHERE state <> 'running' GROUP BY session, batch, state
            UNION ALL
            SELECT session, batch, state, count(*), 0 FROM jobs WHERE state = 'running' GROUP BY session, batch, state
        ) AS groups ON groups.session = sessions.id
        LEFT JOIN (
            SELECT jobs.session, jobs.batch, count(parts.size) AS jobs,
                coalesce(sum(parts.bytes_durable), 0) AS received, coalesce(sum(parts.size), 0) AS expected
            FROM parts JOIN jobs ON jobs.id = parts.job
            WHERE jobs.state IN ('queued', 'running', 'waiting', 'paused') GROUP BY jobs.session, jobs.batch
        ) AS coming ON coming.session = sessions.id AND coming.batch = latest.number
        GROUP BY sessions.id, latest.number, coming.jobs, coming.received, coming.expected
        """
}

/// The kept counts of the whole service: the row of `service_counts`.
struct ServiceCounts: Sendable, Equatable {
    var parts = 0
    /// The durable bytes of all parts.
    var partBytes: Int64 = 0
    var pendingDeliveries = 0
    var acknowledgedDeliveries = 0
    var exhaustedDeliveries = 0
    var cancelledDeliveries = 0
    var unacknowledgedFinishes = 0

    init() {}

    init(_ row: SQLRow) throws {
        parts = try row[0]
        partBytes = try row[1]
        pendingDeliveries = try row[2]
        acknowledgedDeliveries = try row[3]
        exhaustedDeliveries = try row[4]
        cancelledDeliveries = try row[5]
        unacknowledgedFinishes = try row[6]
    }

    subscript(deliveries state: Delivery.State.Kind) -> Int {
        get {
            switch state {
            case .pending: pendingDeliveries
            case .acknowledged: acknowledgedDeliveries
            case .exhausted: exhaustedDeliveries
            case .cancelled: cancelledDeliveries
            }
        }
        set {
            switch state {
            case .pending: pendingDeliveries = newValue
            case .acknowledged: acknowledgedDeliveries = newValue
            case .exhausted: exhaustedDeliveries = newValue
            case .cancelled: cancelledDeliveries = newValue
            }
        }
    }

    /// The other states with at least one delivery.
    var settledDeliveries: [Delivery.State.Kind: Int] {
        Delivery.State.Kind.allCases.reduce(into: [:]) { counts, state in
            if state != .pending, self[deliveries: state] > 0 { counts[state] = self[deliveries: state] }
        }
    }

    static func += (sum: inout ServiceCounts, other: ServiceCounts) {
        sum.parts += other.parts
        sum.partBytes += other.partBytes
        for state in Delivery.State.Kind.allCases { sum[deliveries: state] += other[deliveries: state] }
        sum.unacknowledgedFinishes += other.unacknowledgedFinishes
    }

    static func - (left: ServiceCounts, right: ServiceCounts) -> ServiceCounts {
        var difference = left
        difference.parts -= right.parts
        difference.partBytes -= right.partBytes
        for state in Delivery.State.Kind.allCases { difference[deliveries: state] -= right[deliveries: state] }
        difference.unacknowledgedFinishes -= right.unacknowledgedFinishes
        return difference
    }

    /// The columns in the order in which `init(_:)` reads them.
    static let columns = """
        parts, part_bytes, deliveries_pending, deliveries_acknowledged, deliveries_exhausted, deliveries_cancelled,
            finishes_unacknowledged
        """

    static func read(in db: SQLConnection) throws -> ServiceCounts {
        try db.row("SELECT \(columns) FROM service_counts").map(ServiceCounts.init)
            ?? ServiceCounts()
    }

    /// Counts parts, deliveries and finishes one by one.
    static func recount(in db: SQLConnection) throws -> ServiceCounts {
        try db.row("SELECT \(columns) FROM (\(counted)) AS counted")
            .map(ServiceCounts.init) ?? ServiceCounts()
    }

    private static let counted = """
        SELECT parts, part_bytes, deliveries_pending, deliveries_acknowledged, deliveries_exhausted,
            deliveries_cancelled, finishes_unacknowledged
        FROM (SELECT count(*) AS parts, coalesce(sum(bytes_durable), 0) AS part_bytes FROM parts) AS part_counts
        CROSS JOIN (
            SELECT count(*) FILTER (WHERE state = 'pending') AS deliveries_pending,
                count(*) FILTER (WHERE state = 'acknowledged') AS deliveries_acknowledged,
                count(*) FILTER (WHERE state = 'exhausted') AS deliveries_exhausted,
                count(*) FILTER (WHERE state = 'cancelled') AS deliveries_cancelled
            FROM deliveries
        ) AS delivery_counts
        CROSS JOIN (
            SELECT count(*) AS finishes_unacknowledged FROM batches WHERE state = 'finished' AND is_awaited = 1
        ) AS finish_counts
        """
}

/// The number of jobs in each state.
struct StateCounts: Sendable, Equatable {
    var queued = 0
    var running = 0
    var waiting = 0
    var paused = 0
    var succeeded = 0
    var failed = 0
    var cancelled = 0

    subscript(state: JobState.Kind) -> Int {
        get {
            switch state {
            case .queued: queued
            case .running: running
            case .waiting: waiting
            case .paused: paused
            case .succeeded: succeeded
            case .failed: failed
            case .cancelled: cancelled
            }
        }
        set {
            switch state {
            case .queued: queued = newValue
            case .running: running = newValue
            case .waiting: waiting = newValue
            case .paused: paused = newValue
            case .succeeded: succeeded = newValue
            case .failed: failed = newValue
            case .cancelled: cancelled = newValue
            }
        }
    }

    /// The states with at least one job.
    var byState: [JobState.Kind: Int] {
        JobState.Kind.allCases.reduce(into: [:]) { if self[$1] > 0 { $0[$1] = self[$1] } }
    }

    static func - (left: StateCounts, right: StateCounts) -> StateCounts {
        JobState.Kind.allCases.reduce(into: left) { $0[$1] -= right[$1] }
    }

    static func += (sum: inout StateCounts, other: StateCounts) {
        for state in JobState.Kind.allCases { sum[state] += other[state] }
    }
}

/// The jobs of one batch that are outstanding or have succeeded, and their bytes.
struct BatchProgress: Sendable, Equatable {
    /// Outstanding jobs whose size is unknown.
    var unsized = 0
    /// The other ones.
    var sized = 0
    var bytesReceived: Int64 = 0
    /// Of the sized jobs.
    var bytesExpected: Int64 = 0

    /// The bytes of all jobs; nil when the size of a job is unknown, and when there is no job.
    var expected: Int64? { unsized == 0 && sized > 0 ? bytesExpected : nil }

    var isZero: Bool { self == BatchProgress() }

    static func += (sum: inout BatchProgress, other: BatchProgress) {
        sum.unsized += other.unsized
        sum.sized += other.sized
        sum.bytesReceived += other.bytesReceived
        sum.bytesExpected += other.bytesExpected
    }

    static func - (left: BatchProgress, right: BatchProgress) -> BatchProgress {
        BatchProgress(
            unsized: left.unsized - right.unsized, sized: left.sized - right.sized,
            bytesReceived: left.bytesReceived - right.bytesReceived,
            bytesExpected: left.bytesExpected - right.bytesExpected)
    }

    static func -= (left: inout BatchProgress, right: BatchProgress) { left = left - right }
}
