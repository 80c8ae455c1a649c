import Downloads
import PostgresClient

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
