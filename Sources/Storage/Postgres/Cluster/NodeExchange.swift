import Base
import Downloads
import Foundation
import PostgresClient

/// What the nodes tell each other every second without a group commit: the progress of their running jobs, how many run
/// where, and how many may run.
public final class NodeExchange: Sendable {
    /// A running job, as its node has reported it.
    public struct Report: Sendable {
        public var job: JobID
        public var session: Name
        public var live: LiveProgress

        public init(job: JobID, session: Name, live: LiveProgress) {
            self.job = job
            self.session = session
            self.live = live
        }
    }

    /// How many jobs run on this node and on all nodes.
    public struct Demand: Sendable, Equatable {
        public var own = 0
        public var all = 0

        public init(own: Int = 0, all: Int = 0) {
            self.own = own
            self.all = all
        }

        /// The part of a common limit that this node may use.
        public var share: Double { all == 0 ? 1 : Double(own) / Double(all) }
    }

    private struct State {
        var source: @Sendable () -> [Report] = { [] }
        var onDemand: @Sendable ([Name: Demand]) -> Void = { _ in }
        var slots: (@Sendable () -> Int)?
        var others: [JobID: Report] = [:]
    }

    private let state = Locked(State())

    init() {}

    /// - Parameters:
    ///   - source: the running jobs of this node.
    ///   - onDemand: called about every second with the running jobs of each session. It must return quickly.
    public func connect(
        _ source: @escaping @Sendable () -> [Report], onDemand: @escaping @Sendable ([Name: Demand]) -> Void
    ) {
        state.withLock {
            $0.source = source
            $0.onDemand = onDemand
        }
    }

    /// - Parameter slots: the largest number of jobs that run on this node at once. Before this call, it is that of the
    ///   node's description.
    public func reportSlots(_ slots: @escaping @Sendable () -> Int) { state.withLock { $0.slots = slots } }

    /// A job that runs on another node, as it was reported when this node reached the database last; nil if no node had reported
    /// it in the seconds before.
    public subscript(job: JobID) -> Report? { state.withLock { $0.others[job] } }

    /// The running jobs of the other nodes, when this node reached the database last.
    public var others: [Report] { state.withLock { Array($0.others.values) } }

    var own: [Report] { state.withLock(\.source)() }
    var slots: Int? { state.withLock(\.slots)?() }

    func take(_ others: [Report], _ demand: [Name: Demand]) {
        let onDemand = state.withLock { state in
            state.others = Dictionary(others.map { ($0.job, $0) }) { $1 }
            return state.onDemand
        }
        onDemand(demand)
    }
}

extension NodeExchange.Report {
    /// The progress as the database has it: `transferring 1000 500 2000 - 7`; `-` for an unknown number.
    var text: String {
        let numbers = [live.bytesReceived, live.bytesDurable, live.bytesExpected, live.bytesPerSecond, live.tick]
        return ([live.phase.rawValue] + numbers.map { $0.map(String.init) ?? "-" }).joined(separator: " ")
    }

    /// nil if another version wrote it in another way.
    init?(job: JobID, session: Name, text: String) {
        let fields = text.split(separator: " ")
        guard fields.count == 6, let phase = LiveProgress.Phase(rawValue: String(fields[0])),
            let received = Int64(fields[1]), let durable = Int64(fields[2]), let tick = Int64(fields[5])
        else { return nil }
        self.init(
            job: job, session: session,
            live: LiveProgress(
                phase: phase, bytesReceived: received, bytesDurable: durable, bytesExpected: Int64(fields[3]),
                bytesPerSecond: Int64(fields[4]), tick: tick))
    }
}

/// Writes the progress of this node's jobs, and reads that of the others, in two round trips. The table is not durable, so
/// this needs neither the lock of the journal nor a disk sync. A change of the node's limit, which is rare, is durable.
enum PostgresExchange {
    static func run(_ exchange: NodeExchange, of node: Node, on connection: PostgresConnection) throws {
        let changes = changes(exchange, of: node)
        try connection.transaction { transaction in try transaction.commit(with: changes) }
        let results = try connection.read([
            PostgresStatement(others, [.int8(node.number)]), PostgresStatement(demand, [.int8(node.number)]),
        ])
        exchange.take(
            try results[0].compactMap { row in
                NodeExchange.Report(
                    job: JobID(try row.value(0)), session: Name(trusted: try row.value(1)), text: try row.value(2))
            },
            Dictionary(
                try results[1].map { row in
                    (Name(trusted: try row.value(0)), .init(own: try row.value(1), all: try row.value(2)))
                }
            ) { $1 })
    }

    private static func changes(_ exchange: NodeExchange, of node: Node) -> [PostgresStatement] {
        let (number, reports) = (PostgresValue.int8(node.number), exchange.own)
        let jobs = PostgresValue.textArray(reports.map(\.job.text))
        var changes = [
            PostgresStatement(removal, [number, jobs]),
            PostgresStatement(
                upsert,
                [number, jobs, .textArray(reports.map(\.session.text)), .textArray(reports.map(\.text))]),
        ]
        if let slots = exchange.slots {
            changes.append(PostgresStatement(limit, [number, .int8(node.epoch), .int8(Int64(slots))]))
        }
        return changes
    }

    private static let limit = "UPDATE nodes SET slots = $3 WHERE number = $1 AND epoch = $2 AND slots <> $3"

    /// An anti-join, which PostgreSQL hashes. With `job <> ALL ($2)`, the generic plan of a prepared statement compares each
    /// row with each job, which takes 1.3 s for 10,000 jobs; the anti-join takes 13 ms.
    private static let removal = """
        DELETE FROM progress WHERE node = $1
            AND NOT EXISTS (SELECT 1 FROM unnest($2) AS reports (job) WHERE reports.job = progress.job)
        """

    private static let upsert = """
        INSERT INTO progress (job, node, session, report, at)
        SELECT job, $1, session, report, \(PostgresNode.now) FROM unnest($2, $3, $4) AS reports (job, session, report)
        ON CONFLICT (job) DO UPDATE SET node = excluded.node, report = excluded.report, at = excluded.at
        """

    private static let others =
        "SELECT job, session, report FROM progress WHERE node <> $1 AND at > \(PostgresNode.now) - 5000"

    private static let demand = """
        SELECT session, sum(CASE WHEN node = $1 THEN 1 ELSE 0 END), count(*) FROM jobs WHERE state = 'running'
        GROUP BY session
        """
}
