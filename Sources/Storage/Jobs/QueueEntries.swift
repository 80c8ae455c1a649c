import Base
import Downloads
import Foundation
import HTTPSemantics

/// Why queued jobs do not run yet, and their places in the queue.
extension Store {
    /// Reads what admission would read. Fifty jobs of a session cost one statement for each lane of the queue.
    ///
    /// - Parameters:
    ///   - jobs: queued ones.
    ///   - limits: the present ones.
    public func queueEntries(
        of jobs: [Job], _ limits: AdmissionLimits
    ) async throws(StoreError) -> [JobID: QueueEntry] {
        let (now, uptime) = (time.now, time.uptime)
        return try await read { [sealer, node, queueSamples] db in
            let cause = try QueueCause(db, limits, on: node, sealer, at: now)
            let positions = try QueuePositions(db, queueSamples, at: uptime).positions(of: jobs)
            return try jobs.reduce(into: [:]) { entries, job in
                var entry = try cause.entry(of: job)
                entry.position = positions[job.id]
                entries[job.id] = entry
            }
        }
    }
}

/// What keeps jobs from running, as admission would find it.
private final class QueueCause {
    private let db: SQLConnection
    private let sealer: Sealer
    private let now: Date
    private let slots: AdmissionSlots
    private let quotas: AdmissionQuotas
    private let exhausted: Set<TokenID>
    private var configurations: [Name: SessionConfiguration] = [:]

    init(_ db: SQLConnection, _ limits: AdmissionLimits, on node: Node?, _ sealer: Sealer, at now: Date) throws {
        (self.db, self.sealer, self.now) = (db, sealer, now)
        slots = try db.admissionSlots(limits, on: node)
        quotas = try AdmissionQuotas(db, at: now)
        exhausted = quotas.exhausted
    }

    func entry(of job: Job) throws -> QueueEntry {
        if let moment = job.spec.notBefore, moment > now { return QueueEntry(blockedBy: .notBefore, until: moment) }
        let host = URLRule.hostAndPort(of: job.url)
        let found = slots.blocker(of: job.session, at: host, try configuration(of: job.session))
        switch (found?.blocker, job.token) {
        case (.schedule?, _), (.hostPaused?, _): break
        case (_, let token?) where quotas.outOfBytes.contains(token):
            return QueueEntry(blockedBy: .bandwidth, until: quotas.continuesAt)
        case (nil, let token?) where exhausted.contains(token): return QueueEntry(blockedBy: .serviceLimit)
        default: break
        }
        return QueueEntry(blockedBy: found?.blocker, until: found?.until)
    }

    private func configuration(of session: Name) throws -> SessionConfiguration {
        if let known = configurations[session] { return known }
        // A session that a client has just deleted has no limits.
        var configuration = SessionConfiguration()
        if let row = try db.row("SELECT * FROM sessions WHERE id = ?", [session.text]) {
            configuration = try SessionRow.session(row, sealer).configuration
        }
        configurations[session] = configuration
        return configuration
    }
}

/// Counts the jobs before others in the indexes of the queue.
struct QueuePositions {
    private let db: SQLConnection
    private let samples: QueueSamples
    private let now: Duration

    init(_ db: SQLConnection, _ samples: QueueSamples, at now: Duration) {
        (self.db, self.samples, self.now) = (db, samples, now)
    }

    func positions(of jobs: [Job]) throws -> [JobID: Int] {
        var positions: [JobID: Int] = [:]
        for (session, jobs) in Dictionary(grouping: jobs, by: \.session) {
            let groups = Dictionary(grouping: jobs, by: \.rank)
            let last = groups.keys.max() ?? 0
            var before = 0
            for priority in 0...last {
                let jobs = (groups[priority] ?? []).sorted { $0.effectiveQueueRank < $1.effectiveQueueRank }
                // All jobs of a higher priority start before.
                let ranks = jobs.map(\.effectiveQueueRank.text) + (priority < last ? [Self.end] : [])
                let places = try places(of: ranks, session, priority)
                for (job, place) in zip(jobs, places) { positions[job.id] = before + place }
                before += places.last ?? 0
            }
        }
        return positions
    }

    /// Above every rank.
    private static let end = "~"

    /// The number of jobs before each rank. From the second rank on, the jobs since the one before are counted.
    ///
    /// - Parameter ranks: in ascending order.
    private func places(of ranks: [String], _ session: Name, _ priority: Int) throws -> [Int] {
        guard !ranks.isEmpty else { return [] }
        var places = Array(repeating: 0, count: ranks.count)
        for lane in QueueLane.allCases {
            let sampled = try samples.ranks(of: lane, session, priority, in: db, at: now)
            var known = (rank: "", count: 0)
            for start in stride(from: 0, to: ranks.count, by: Self.ranksInAStatement) {
                let chunk = ranks[start..<min(start + Self.ranksInAStatement, ranks.count)]
                var points: [(base: String, count: Int?)] = []
                for rank in chunk {
                    let sample = sampled.last(before: rank)
                    let usesSample = sample.rank > known.rank
                    points.append(usesSample ? (sample.rank, sample.count) : (known.rank, nil))
                    known.rank = rank
                }
                for (index, count) in try counts(lane, session, priority, points.map(\.base), chunk).enumerated() {
                    known.count = (points[index].count ?? known.count) + count
                    places[start + index] += known.count
                }
            }
        }
        return places
    }

    private func counts(
        _ lane: QueueLane, _ session: Name, _ priority: Int, _ bases: [String], _ ranks: ArraySlice<String>
    ) throws -> [Int] {
        // All lists use one of two statements.
        let size = ranks.count == 1 ? 1 : Self.ranksInAStatement
        var arguments: SQLArguments = ["priority": priority, "session": session.text]
        let padding = Array(repeating: "", count: size - ranks.count)
        for (index, (base, rank)) in zip(bases + padding, ranks + padding).enumerated() {
            arguments.set("from\(index)", base)
            arguments.set("to\(index)", rank)
        }
        return Array(try db.values(Self.counts(in: lane, size), arguments, as: Int.self).prefix(ranks.count))
    }

    private static let ranksInAStatement = 50

    /// The jobs from each base on, before each rank. The order leads PostgreSQL to the index, as in `AdmissionQueue`; the limit, which it
    /// must not reach, lets it believe that the order matters.
    static func counts(in lane: QueueLane, _ size: Int) -> String {
        (0..<size).map { index in
            """
            SELECT (SELECT count(*) FROM (SELECT 1 FROM jobs INDEXED BY \(lane.index) WHERE \(lane.ofSession)
                AND \(lane.ordered(lane.rank)) >= :from\(index) AND \(lane.ordered(lane.rank)) < :to\(index)
                ORDER BY \(lane.ordered(lane.rank)) LIMIT 1000000) AS jobs_between) AS n
            """
        }.joined(separator: "\nUNION ALL ")
    }
}

/// The rank of each thousandth job of a lane, so that a place far behind in the queue does not cost a count of all jobs before it. It is
/// read when a client asks for places, and kept for a second. Meanwhile places can be wrong by the jobs that have started.
final class QueueSamples: Sendable {
    struct Ranks {
        fileprivate var ranks: [String]
        fileprivate var readAt: Duration

        /// The last one before a rank, and the number of jobs before it.
        func last(before rank: String) -> (rank: String, count: Int) {
            var (low, high) = (0, ranks.count)
            while low < high {
                let middle = (low + high) / 2
                if QueueRank(ranks[middle]) < QueueRank(rank) { low = middle + 1 } else { high = middle }
            }
            return low == 0 ? ("", 0) : (ranks[low - 1], low * QueueSamples.spacing - 1)
        }
    }

    private struct Key: Hashable {
        let session: Name
        let priority: Int
        let lane: QueueLane
    }

    private let known = Locked<[Key: Ranks]>([:])
    private static let most = 1_000
    private static let age = Duration.seconds(1)
    static let spacing = 1_000

    func ranks(
        of lane: QueueLane, _ session: Name, _ priority: Int, in db: SQLConnection, at now: Duration
    ) throws -> Ranks {
        let key = Key(session: session, priority: priority, lane: lane)
        if let ranks = known.withLock({ $0[key] }), now - ranks.readAt < Self.age { return ranks }
        let arguments: SQLArguments = ["priority": priority, "session": session.text]
        let ranks = Ranks(ranks: try db.values(Self.ranks(in: lane), arguments, as: String.self), readAt: now)
        known.withLock { known in
            if known.count >= Self.most { known = known.filter { now - $0.value.readAt < Self.age } }
            if known.count < Self.most { known[key] = ranks }
        }
        return ranks
    }

    static func ranks(in lane: QueueLane) -> String {
        let rank = lane.ordered(lane.rank)
        let jobs = "SELECT \(lane.rank) FROM jobs INDEXED BY \(lane.index) WHERE \(lane.ofSession)"
        let next = "ORDER BY \(rank) LIMIT 1 OFFSET \(spacing - 1)"
        return """
            WITH RECURSIVE samples (sampled) AS (
                SELECT (\(jobs) \(next))
                UNION ALL
                SELECT (\(jobs) AND \(rank) > samples.sampled \(next)) FROM samples WHERE sampled IS NOT NULL
            )
            SELECT sampled FROM samples WHERE sampled IS NOT NULL
            """
    }
}
