import Downloads

/// A number of a row of counts. The raw value is the name of its column.
protocol CountColumn: RawRepresentable<String>, Equatable, Sendable {
    /// At most eight, in the order in which statements read them.
    static var columns: [Self] { get }
}

extension JobState.Kind: CountColumn { static let columns = allCases }

/// The jobs of a batch that are outstanding or have succeeded, and their bytes.
enum ProgressColumn: String, CountColumn, CaseIterable {
    /// Outstanding jobs whose size is unknown.
    case unsized
    /// The other ones.
    case sized
    /// The bytes of all jobs, and those that the sized jobs will have.
    case received, expected

    static let columns = allCases
}

enum ServiceColumn: String, CountColumn, CaseIterable {
    case parts
    /// The durable bytes of all parts.
    case partBytes = "part_bytes"
    case pendingDeliveries = "deliveries_pending"
    case acknowledgedDeliveries = "deliveries_acknowledged"
    case exhaustedDeliveries = "deliveries_exhausted"
    case cancelledDeliveries = "deliveries_cancelled"
    case unacknowledgedFinishes = "finishes_unacknowledged"

    static let columns = allCases

    static func deliveries(_ state: Delivery.State.Kind) -> ServiceColumn {
        switch state {
        case .pending: .pendingDeliveries
        case .acknowledged: .acknowledgedDeliveries
        case .exhausted: .exhaustedDeliveries
        case .cancelled: .cancelledDeliveries
        }
    }
}

/// The numbers of a row of counts, or the changes of them.
struct Counts<Column: CountColumn>: Sendable, Equatable {
    /// Without an array, because each change of a job makes some of these values.
    private var numbers = SIMD8<Int>()

    init() {}

    init(_ row: SQLRow, from first: Int = 0) throws {
        for index in Column.columns.indices { numbers[index] = try row[first + index] }
    }

    subscript(column: Column) -> Int {
        get { numbers[Self.index(of: column)] }
        set { numbers[Self.index(of: column)] = newValue }
    }

    private static func index(of column: Column) -> Int {
        guard let index = Column.columns.firstIndex(of: column) else { preconditionFailure("\(column) has no column") }
        return index
    }

    var isZero: Bool { self == Counts() }
    var values: [SQLArguments.Value] { Column.columns.indices.map { numbers[$0] } }

    static func += (sum: inout Counts, other: Counts) { sum.numbers &+= other.numbers }
    static func -= (left: inout Counts, right: Counts) { left.numbers &-= right.numbers }

    static func - (left: Counts, right: Counts) -> Counts {
        var difference = left
        difference -= right
        return difference
    }

    static var names: [String] { Column.columns.map(\.rawValue) }
}

extension Counts: CustomStringConvertible {
    var description: String { zip(Self.names, numbers.indices).map { "\($0) \(numbers[$1])" }.joined(separator: ", ") }
}

extension Counts<JobState.Kind> {
    /// The states with at least one job.
    var byState: [JobState.Kind: Int] {
        JobState.Kind.columns.reduce(into: [:]) { if self[$1] > 0 { $0[$1] = self[$1] } }
    }
}

typealias BatchProgress = Counts<ProgressColumn>

extension BatchProgress {
    init(unsized: Int = 0, sized: Int = 0, received: Int64 = 0, expected: Int64 = 0) {
        self.init()
        self[.unsized] = unsized
        self[.sized] = sized
        self[.received] = Int(received)
        self[.expected] = Int(expected)
    }

    /// The bytes of all jobs; nil when the size of a job is unknown, and when there is no job.
    var expected: Int64? { self[.unsized] == 0 && self[.sized] > 0 ? Int64(self[.expected]) : nil }
}

/// The kept counts of one session: a row of `session_counts`.
struct SessionCounts: Sendable, Equatable {
    var jobs = Counts<JobState.Kind>()
    /// The number of the latest batch; 0 before the first.
    var batch = 0
    var progress = BatchProgress()

    init() {}

    init(_ row: SQLRow) throws {
        jobs = try Counts(row)
        batch = try row[Self.states.count]
        progress = try BatchProgress(row, from: Self.states.count + 1)
    }

    /// The columns in the order in which `init(_:)` reads them.
    static let columns = (states + ["batch"] + BatchProgress.names).joined(separator: ", ")
    private static let states = Counts<JobState.Kind>.names

    static func read(_ session: String, in db: SQLConnection) throws -> SessionCounts {
        try db.row(kept, [session]).map(SessionCounts.init) ?? SessionCounts()
    }

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
    static func total(in db: SQLConnection) throws -> (jobs: Counts<JobState.Kind>, sessions: Int) {
        guard let row = try db.row(sums) else { return (Counts(), 0) }
        return try (Counts(row), row["sessions"])
    }

    private static let sums = """
        SELECT \(states.map { "coalesce(sum(\($0)), 0)" }.joined(separator: ", ")), count(*) AS sessions
        FROM session_counts
        """
    private static let kept = "SELECT \(columns) FROM session_counts WHERE session = ?"

    /// Counts what the rows of `session_counts` keep. The jobs are read in the order of an index, because a million of them cannot be
    /// sorted in little memory.
    static let counted: String = {
        let sums = JobState.Kind.columns.map {
            "coalesce(sum(groups.jobs) FILTER (WHERE state = '\($0.rawValue)'), 0) AS \($0.rawValue)"
        }.joined(separator: ", ")
        return """
            SELECT sessions.id AS session,
                \(sums),
                coalesce(latest.number, 0) AS batch,
                coalesce(sum(groups.latest_jobs) FILTER (WHERE state IN ('queued', 'running', 'waiting', 'paused')), 0)
                    - coalesce(coming.jobs, 0) AS unsized,
                coalesce(sum(groups.latest_jobs) FILTER (WHERE state = 'succeeded'), 0) + coalesce(coming.jobs, 0) AS sized,
                coalesce(sum(groups.latest_bytes), 0) + coalesce(coming.received, 0) AS received,
                coalesce(sum(groups.latest_bytes), 0) + coalesce(coming.expected, 0) AS expected
            FROM sessions
            LEFT JOIN (
                SELECT session, max(number) AS number FROM batches GROUP BY session
            ) AS latest ON latest.session = sessions.id
            LEFT JOIN (
                \(groups(where: "state <> 'running'")) UNION ALL \(groups(where: "state = 'running'"))
            ) AS groups ON groups.session = sessions.id
            LEFT JOIN (
                SELECT jobs.session, jobs.batch, count(parts.size) AS jobs,
                    coalesce(sum(parts.bytes_durable), 0) AS received, coalesce(sum(parts.size), 0) AS expected
                FROM parts JOIN jobs ON jobs.id = parts.job
                WHERE jobs.state IN ('queued', 'running', 'waiting', 'paused') GROUP BY jobs.session, jobs.batch
            ) AS coming ON coming.session = sessions.id AND coming.batch = latest.number
            GROUP BY sessions.id, latest.number, coming.jobs, coming.received, coming.expected
            """
    }()

    /// The jobs of each session and state, and how many of them are of the latest batch.
    private static func groups(where condition: String) -> String {
        """
        SELECT session, state, count(*) AS jobs, sum(is_latest) AS latest_jobs,
            sum(is_latest * coalesce(file_size, 0)) AS latest_bytes
        FROM (SELECT session, state, file_size, CASE WHEN batch = (
                SELECT max(number) FROM batches WHERE batches.session = jobs.session) THEN 1 ELSE 0 END AS is_latest
            FROM jobs WHERE \(condition)) AS judged
        GROUP BY session, state
        """
    }
}

/// The kept counts of the whole service: the row of `service_counts`.
typealias ServiceCounts = Counts<ServiceColumn>

extension ServiceCounts {
    var settledDeliveries: [Delivery.State.Kind: Int] {
        Delivery.State.Kind.allCases.reduce(into: [:]) { counts, state in
            let count = self[.deliveries(state)]
            if state != .pending, count > 0 { counts[state] = count }
        }
    }

    private static var columns: String { names.joined(separator: ", ") }

    static func read(in db: SQLConnection) throws -> ServiceCounts {
        try db.row("SELECT \(columns) FROM service_counts").map { try ServiceCounts($0) } ?? ServiceCounts()
    }

    /// Counts parts, deliveries and finishes one by one.
    static func recount(in db: SQLConnection) throws -> ServiceCounts {
        try db.row(counted).map { try ServiceCounts($0) } ?? ServiceCounts()
    }

    private static var counted: String {
        """
        SELECT \(columns)
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
}
