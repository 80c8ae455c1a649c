import Downloads

/// The used part of each limit.
struct AdmissionSlots {
    static let running = "SELECT session, host, count(*) AS n FROM jobs WHERE state = 'running' GROUP BY session, host"

    /// The same with the jobs of all nodes, and with those of one.
    static let runningOnNodes = """
        SELECT session, host, count(*) AS n, sum(CASE WHEN node = ? THEN 1 ELSE 0 END) AS own FROM jobs
        WHERE state = 'running' GROUP BY session, host
        """

    private let limits: AdmissionLimits
    /// Jobs that may still begin on this node.
    private(set) var free: Int
    private var bySession: [Name: Int] = [:]
    private var byHost: [String: Int] = [:]
    private var bySessionAndHost: [Name: [String: Int]] = [:]

    init(running: [SQLRow], limits: AdmissionLimits) {
        self.limits = limits
        free = limits.jobs
        var left = limits.jobsOfAllNodes ?? .max
        for row in running {
            let count: Int = row["n"]
            take(Name(trusted: row["session"]), host: row["host"], count: count)
            free += count - (row["own"] ?? count)
            left -= min(left, count)
        }
        free = min(free, left)
        for taken in limits.taken { connect(taken.session, host: taken.host, count: taken.count) }
    }

    func running(in session: Name) -> Int { bySession[session, default: 0] }

    func hasRoom(for session: Name, _ configuration: SessionConfiguration) -> Bool {
        running(in: session) < configuration.maxConcurrentJobs ?? .max
    }

    func hasRoom(at host: String, for session: Name, _ configuration: SessionConfiguration) -> Bool {
        byHost[host, default: 0] < limits.connectionsPerHost
            && bySessionAndHost[session]?[host] ?? 0 < configuration.maxConnectionsPerHost ?? .max
    }

    mutating func take(_ session: Name, host: String, count: Int = 1) {
        free -= count
        bySession[session, default: 0] += count
        connect(session, host: host, count: count)
    }

    mutating func connect(_ session: Name, host: String, count: Int) {
        byHost[host, default: 0] += count
        bySessionAndHost[session, default: [:]][host, default: 0] += count
    }
}
