/// The tables of the store, and the versions that they had.
///
/// A released version is never edited. A new version adds tables, columns and indexes with its number to the values of the tables
/// (`since`), and what else it changes to `Schema.changes`. On PostgreSQL, a service of the version before must be able to use the
/// tables of a new version, so a version adds columns with defaults, and a later version removes what is not used any more.
///
/// Most indexes on `state` are partial: an index that follows every change of every job costs pages in every commit.
package enum Schema {
    /// The version that fetchd 0.2.0 wrote. Databases of earlier versions are refused.
    package static let baseline = 18

    /// The version that this program writes.
    package static let latest = 29

    /// The version that gave some tables of the nodes and some indexes their present names. No released version has used the former
    /// names on PostgreSQL.
    static let renaming = 21

    /// A table follows the tables that it refers to.
    package static let tables: [Table] =
        [sessions, batches, jobs, jobTags, parts] + journalTables + webhookTables + counts + service + callers
        + nodeTables + [hosts, hostStarts, imports, importBatches, consumers, consumerAcknowledgements]
        + uploads

    /// The statements that bring a database from the version before to this one.
    package static func statements(of version: Int, for engine: Table.Engine) -> [String] {
        let tables = tables.flatMap { $0.statements(of: version, for: engine) }
        return version == baseline ? tables + firstRows(for: engine) : tables + changes(of: version, for: engine)
    }

    /// What a version changes besides the tables that it adds to.
    private static func changes(of version: Int, for engine: Table.Engine) -> [String] {
        switch version {
        case 20: [notHeld] + knownConsumers + (engine == .postgres ? queueIndexes : [])
        default: []
        }
    }

    // MARK: Version 20

    /// `held_until` belongs to queued jobs only. Earlier versions kept it in jobs that were paused or cancelled while they were held,
    /// and each look for the next job that is due read these jobs.
    private static let notHeld = "UPDATE jobs SET held_until = NULL WHERE held_until IS NOT NULL AND state <> 'queued'"

    /// A session of an earlier version has a consumer if it has a webhook or a delivery, or if a finish or an event of it is
    /// acknowledged.
    private static let knownConsumers = [
        """
        UPDATE sessions SET has_consumer = 1, expects_acknowledgement = 1
        WHERE id IN (SELECT session FROM webhooks) OR id IN (SELECT session FROM deliveries)
            OR EXISTS (SELECT 1 FROM batches WHERE session = sessions.id
                AND (state = 'acknowledged' OR first_event <= sessions.acknowledged_through))
        """,
        """
        UPDATE batches SET is_awaited = 0 WHERE state = 'finished'
            AND session IN (SELECT id FROM sessions WHERE has_consumer = 0)
        """,
        """
        UPDATE service_counts SET finishes_unacknowledged = (
            SELECT count(*) FROM batches WHERE state = 'finished' AND is_awaited = 1)
        """,
    ]

    /// Version 18 made these indexes in the order of the columns.
    private static var queueIndexes: [String] {
        let indexes = jobs.indexes.filter(\.isOfQueue)
        return indexes.map { "DROP INDEX \($0.name)" } + indexes.map { jobs.creation(of: $0, for: .postgres, in: 20) }
    }

    // MARK: The rows of a new database

    private static func firstRows(for engine: Table.Engine) -> [String] {
        let common = [
            "INSERT INTO sessions (id, configuration, created_at) VALUES ('default', '{}', \(now(engine)))",
            "INSERT INTO session_counts (session) VALUES ('default')",
            """
            INSERT INTO service_counts (id, parts, part_bytes, deliveries_pending, deliveries_acknowledged,
                deliveries_exhausted, deliveries_cancelled, finishes_unacknowledged) VALUES (1, 0, 0, 0, 0, 0, 0, 0)
            """,
            "INSERT INTO history (identity, commits, began_at) VALUES (\(identity(engine)), 0, \(now(engine)))",
            "INSERT INTO sealing (id, step) VALUES (1, 'done')",
        ]
        let journal = "INSERT INTO journal (id, last, commits, writer) VALUES (1, 0, 0, '')"
        return engine == .postgres ? common + [journal] : common
    }

    /// The present time in milliseconds since 1970 (UTC).
    private static func now(_ engine: Table.Engine) -> String {
        switch engine {
        case .sqlite: "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"
        case .postgres: "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
        }
    }

    /// 20 random hexadecimal digits.
    static func identity(_ engine: Table.Engine) -> String {
        switch engine {
        case .sqlite: "lower(hex(randomblob(10)))"
        case .postgres: "substr(replace(gen_random_uuid()::text, '-', ''), 1, 20)"
        }
    }
}
