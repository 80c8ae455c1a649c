import Downloads
import Formats
import Foundation

/// Limits of how many attempts may run at once.
public struct AdmissionLimits: Sendable {
    public struct Taken: Sendable {
        public var session: Name
        public var host: String
        public var count: Int

        public init(session: Name, host: String, count: Int) {
            self.session = session
            self.host = host
            self.count = count
        }
    }

    /// A host gets no requests.
    public struct Pause: Sendable, Equatable {
        /// nil: until the response to the request that tries it.
        public var until: Date?

        public init(until: Date?) { self.until = until }
    }

    /// Jobs that run on this service; 0: the schedule lets none begin.
    public var jobs: Int
    /// When the schedule changes the limits next.
    public var scheduledUntil: Date?
    /// Jobs that run on all nodes of the database together; nil: only the limit of each node applies.
    public var jobsOfAllNodes: Int?
    public var connectionsPerHost: Int
    public var taken: [Taken] = []
    /// How many jobs of a session may begin now with a request to the host.
    public var startsLeft: @Sendable (_ host: String, _ session: Name, HostRules) -> Int = { _, _, _ in .max }
    /// nil if the host gets requests, perhaps at intervals.
    public var pause: @Sendable (_ host: String, _ session: Name, HostRules) -> Pause? = { _, _, _ in nil }
    /// The connections to a host that a rule of the service allows; nil: it has none.
    public var connectionsAllowed: @Sendable (_ host: String) -> Int? = { _ in nil }

    public init(jobs: Int, ofAllNodes all: Int? = nil, connectionsPerHost: Int) {
        self.jobs = jobs
        jobsOfAllNodes = all
        self.connectionsPerHost = connectionsPerHost
    }

    public func with(_ taken: [Taken]) -> AdmissionLimits {
        var limits = self
        limits.taken = taken
        return limits
    }
}

public struct AdmittedJob: Sendable {
    public var job: Job
    public var spec: ResolvedSpec
}

public struct AdmissionRound: Sendable {
    public var admitted: [AdmittedJob]
    /// The time at which the next wait ends; nil when no job waits for a time.
    public var nextWaitEnds: Date?
}

/// Decides which jobs run. Jobs of higher priority run first. Within one priority the session with the fewest running jobs
/// is next, and within a session the oldest job that its limits allow.
extension Store {
    /// Queues the jobs whose wait has ended, and admits queued jobs to the free slots.
    ///
    /// - Parameters:
    ///   - limits: called on the writer's thread, because the limits can change before the write begins.
    ///   - onCommit: see `Writer.write`. The engine notes the new attempts in it.
    public func admitJobs(
        _ limits: @escaping @Sendable () -> AdmissionLimits, onCommit: @escaping @Sendable ([AdmittedJob]) -> Void
    ) async throws -> AdmissionRound {
        let sharesDownloads = options.node.sharesDownloads
        let (admitted, now, moments) = try await writer.write(onCommit: { onCommit($0.0) }) { transaction in
            try transaction.endWaits()
            var quotas = try AdmissionQuotas(transaction)
            let admitted = try transaction.admitJobs(limits(), &quotas, sharesDownloads: sharesDownloads)
            let now = transaction.now
            // While the clock is in doubt, some jobs may be held although their time has come.
            let isInDoubt = transaction.confidence.doubt(at: now) > 0
            return (
                admitted, now, [quotas.continuesAt, isInDoubt ? now.addingTimeInterval(Self.longestPollInterval) : nil]
            )
        }
        // After the commit, because no other node writes during it. A later change wakes the scheduler.
        let wait = try await read { try $0.time(Self.nextWait, [now.milliseconds]) }
        return AdmissionRound(admitted: admitted, nextWaitEnds: (moments + [wait]).compactMap(\.self).min())
    }

    /// Only queued jobs are held. The statement does not say so: PostgreSQL could read all queued jobs for it.
    static let nextWait = """
        SELECT min(at) AS at FROM (
            SELECT (SELECT retry_at FROM jobs WHERE retry_at IS NOT NULL ORDER BY retry_at LIMIT 1) AS at
            UNION ALL SELECT (SELECT held_until FROM jobs WHERE held_until > ? ORDER BY held_until LIMIT 1)) AS moments
        """

    /// Ends the waits of all jobs that wait for a location. The engine calls it when the location works again.
    public func endStorageWaits(for location: Name) async throws {
        let limit = 500
        var isDone = false
        while !isDone {
            isDone = try await writer.write { transaction in
                let now = transaction.now.milliseconds
                let ended = try transaction.rows(
                    Transaction.endStorageWaits, ["now": now, "limit": limit, "location": location.text])
                for row in ended { transaction.forget(try JobID(row["id"])) }
                transaction.wake(.jobs)
                return ended.count < limit
            }
        }
    }
}

extension Transaction {
    /// The limit keeps the transaction short. The remaining jobs are due again at once.
    func endWaits(limit: Int = 500) throws {
        if try changedRows(Self.releaseHeld, clientTimes + ["limit": limit]) == limit { wake(.jobs) }
        let due = try jobs(Self.endedWaits, ["now": now.milliseconds, "limit": limit])
        try transitionJobs(due.map { ($0, .waitEnded) })
    }

    /// The jobs come first, so that an estimate of their number does not decide how their parts are found.
    static let endedWaits = """
        \(JobRow.select)WHERE jobs.id IN (SELECT id FROM jobs WHERE retry_at <= :now ORDER BY retry_at LIMIT :limit)
        ORDER BY jobs.retry_at
        """

    static let releaseHeld = """
        UPDATE jobs SET held_until = NULL WHERE id IN (
            SELECT id FROM jobs WHERE held_until <= :now AND (held_until <= :surely OR created_at >= :jump)
            ORDER BY held_until LIMIT :limit)
        """

    static let endStorageWaits = """
        UPDATE jobs SET retry_at = :now WHERE id IN (
            SELECT id FROM jobs WHERE wait_location = :location AND retry_at > :now AND reason = 'storage'
            ORDER BY retry_at LIMIT :limit)
        RETURNING id
        """

    /// - Parameters:
    ///   - quotas: notes the admitted jobs.
    ///   - sharesDownloads: whether this node can continue the parts of the others.
    func admitJobs(
        _ limits: AdmissionLimits, _ quotas: inout AdmissionQuotas, sharesDownloads: Bool = true
    ) throws -> [AdmittedJob] {
        var slots = try slots(limits)
        let owners = sharesDownloads || slots.free <= 0 ? [] : try otherNodes()
        var queue = AdmissionQueue(self, without: quotas.exhausted, leavingTo: owners)
        var admitted: [AdmittedJob] = []
        var configurations: [Name: SessionConfiguration] = [:]
        while slots.free > 0 {
            guard let session = try queue.nextSession(slots) else { break }
            let configuration = try configurations[session] ?? self.configuration(of: session)
            configurations[session] = configuration
            guard let candidate = try queue.takeFirstJob(of: session, slots, configuration) else {
                queue.skip(session)
                continue
            }
            slots.admit(session, host: candidate.host)
            admitted.append(try begin(candidate.job, configuration))
            if quotas.begin(admitted[admitted.count - 1].job) { queue.leaveOut(quotas.exhausted) }
        }
        return admitted
    }

    private func begin(_ id: JobID, _ configuration: SessionConfiguration) throws -> AdmittedJob {
        var job = try job(id)
        let spec = ResolvedSpec(job, in: configuration)
        job.resourceTime = job.resourceTime ?? .running(until: now.addingTimeInterval(spec.resourceSeconds))
        job.node = node?.number
        let limited = spec.limited(to: try roomInSession(for: job, configuration))
        return AdmittedJob(job: try transitionJob(job, on: .admitted).job, spec: limited)
    }
}

/// The used part of each limit.
struct AdmissionSlots {
    static let running = "SELECT session, host, count(*) AS n FROM jobs WHERE state = 'running' GROUP BY session, host"

    /// The running jobs of all nodes, and those of one.
    static let runningOnNodes = """
        SELECT session, host, count(*) AS n, sum(CASE WHEN node = ? THEN 1 ELSE 0 END) AS own FROM jobs
        WHERE state = 'running' GROUP BY session, host
        """

    private let limits: AdmissionLimits
    /// Jobs that may still begin on this node.
    private(set) var free: Int
    private var bySession: [Name: Int] = [:]
    private var byHost: [String: Int] = [:]
    private let rooms = Rooms()
    /// The jobs that this admission begins.
    private var begun: [String: Int] = [:]
    private var bySessionAndHost: [Name: [String: Int]] = [:]

    init(running: [SQLRow], limits: AdmissionLimits) throws {
        self.limits = limits
        free = limits.jobs
        var left = limits.jobsOfAllNodes ?? .max
        for row in running {
            let count: Int = try row["n"]
            try take(Name(trusted: row["session"]), host: row["host"], count: count)
            free += try count - (row["own"] ?? count)
            left -= min(left, count)
        }
        free = min(free, left)
        for taken in limits.taken { connect(taken.session, host: taken.host, count: taken.count) }
    }

    /// Why no job of the session may begin now with a request to the host; nil if one may, unless its token may not.
    func blocker(
        of session: Name, at host: String, _ configuration: SessionConfiguration
    ) -> (blocker: QueueEntry.Blocker, until: Date?)? {
        if limits.jobs == 0 { return (.schedule, limits.scheduledUntil) }
        if let pause = limits.pause(host, session, configuration.hostRules) { return (.hostPaused, pause.until) }
        guard hasRoom(for: session, configuration) else { return (.sessionLimit, nil) }
        guard hasRoom(at: host, for: session, configuration) else { return (.hostLimit, nil) }
        return free > 0 ? nil : (.serviceLimit, nil)
    }

    func running(in session: Name) -> Int { bySession[session, default: 0] }

    func hasRoom(for session: Name, _ configuration: SessionConfiguration) -> Bool {
        running(in: session) < configuration.maxConcurrentJobs ?? .max
    }

    func hasRoom(at host: String, for session: Name, _ configuration: SessionConfiguration) -> Bool {
        let room = rooms.room(at: host, for: session) {
            let rules = configuration.hostRules
            let own = min(configuration.maxConnectionsPerHost ?? .max, rules[host]?.connections ?? .max)
            return Rooms.Room(
                connections: min(limits.connectionsPerHost, limits.connectionsAllowed(host) ?? .max),
                ofSession: own, starts: limits.startsLeft(host, session, rules))
        }
        return byHost[host, default: 0] < room.connections
            && bySessionAndHost[session]?[host] ?? 0 < room.ofSession && room.starts > begun[host, default: 0]
    }

    /// What a host allows is asked once in an admission, which looks at many jobs of it.
    private final class Rooms {
        struct Room {
            var connections: Int
            var ofSession: Int
            var starts: Int
        }

        private var known: [Name: [String: Room]] = [:]

        func room(at host: String, for session: Name, _ ask: () -> Room) -> Room {
            if let room = known[session]?[host] { return room }
            let room = ask()
            known[session, default: [:]][host] = room
            return room
        }
    }

    /// A job begins. Until the commit, its start is counted here.
    mutating func admit(_ session: Name, host: String) {
        begun[host, default: 0] += 1
        take(session, host: host)
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
