import Downloads
import Formats
import Foundation
import PostgresClient
import Storage

extension ServerDatabase {
    /// - Parameter url: such as `postgres://fetchd@db/fetchd`.
    public static func postgres(_ url: String) -> ServerDatabase {
        ServerDatabase { folder, options throws(StoreError) in try PostgresOpening(url, folder, options).database }
    }
}

extension Store {
    /// The stored settings in a PostgreSQL database, whether or not a service uses it. Empty if it has no tables yet.
    public static func settings(inServer url: String) throws(StoreError) -> [String: JSON] {
        do {
            let readers = PostgresReaders(try PostgresTarget(url: url), try ServerReach())
            defer { readers.close() }
            return try readers.read(storedSettings(in:))
        } catch {
            throw StoreError(error)
        }
    }
}

/// Opens a store on PostgreSQL. The data folder has the key of the store and nothing else.
struct PostgresOpening {
    let database: OpenedDatabase

    init(_ url: String, _ folder: DataFolder, _ options: Store.Options) throws(StoreError) {
        let engine = try PostgresEngine(
            url: url, requiresDurability: !options.acceptsUnsafeServer,
            node: PostgresMembership.Applicant(
                id: try NodeFile.identifier(in: folder), place: NodePlace(of: folder), description: options.node,
                log: options.log))
        do {
            let unlocking = try Unlocking(
                folder, options.key, database: engine.name, acceptsLoss: options.acceptsLostSecrets,
                isInUse: Self.isInUse(besides: engine.membership?.node))
            try engine.read(unlocking.verify)
            let sealer = Sealer(keys: try unlocking.keyring(engine, options.log))
            guard let history = try engine.read(History.read) else {
                throw StoreError.databaseUnreadable(path: engine.name, why: "it has no history")
            }
            database = OpenedDatabase(engine: engine, sealer: sealer, history: history, start: engine.start)
        } catch {
            engine.close()
            throw StoreError(error)
        }
    }

    static func isInUse(besides node: Node?) -> (SQLConnection) throws -> Bool {
        { db in
            let others = "SELECT count(*) FROM nodes WHERE number <> ? AND expires_at > \(ServerTime.now)"
            return try db.value(others, [node?.number ?? 0], as: Int.self) ?? 0 > 0
        }
    }
}

/// The settings of a server that decide whether an acknowledged request is durable, and what texts can be stored.
struct PostgresServerSettings: Equatable {
    /// By the names in `pg_settings`.
    let values: [String: String]

    init(_ values: [String: String]) { self.values = values }

    init(of connection: PostgresConnection) throws(PostgresError) {
        let names = PostgresValue.textArray(Self.names)
        let rows = try connection.execute(
            PostgresStatement("SELECT name, setting FROM pg_settings WHERE name = ANY ($1)", [names], isPrepared: false)
        )
        var values: [String: String] = [:]
        for row in rows { values[try row.value(0)] = try row.value(1, as: String.self) }
        self.values = values
    }

    private static let names = [
        "server_encoding", "fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names",
    ]

    /// - Parameter name: of the database, for the error.
    /// - Throws: `StoreError.serverUnsuitable` if the server may lose acknowledged changes; `PostgresError`.
    static func requireDurability(of connection: PostgresConnection, name: String) throws {
        guard let fault = try PostgresServerSettings(of: connection).fault else { return }
        throw StoreError.serverUnsuitable(why: "\(name) cannot be used. \(fault)")
    }

    /// Why the server cannot be used, in sentences; nil if it can.
    var fault: String? {
        var faults: [String] = []
        if values["server_encoding"] != "UTF8" {
            faults.append("The encoding of the database is \(values["server_encoding"] ?? "unknown"); it must be UTF8.")
        }
        for name in ["fsync", "full_page_writes"] where values[name] != "on" {
            faults.append(
                "The server's setting \(name) is \(values[name] ?? "unknown"): a crash of its machine could lose or damage acknowledged changes. Set it to on."
            )
        }
        if let why = unsafeCommits {
            faults.append("synchronous_commit is \(values["synchronous_commit"] ?? "unknown"): \(why). Set it to on.")
        }
        return faults.isEmpty ? nil : faults.joined(separator: " ")
    }

    private var unsafeCommits: String? {
        switch values["synchronous_commit"] {
        case "off", nil: "a crash of the server could lose acknowledged changes"
        case "local" where values["synchronous_standby_names"]?.isEmpty == false:
            "a failover to the synchronous standby could lose acknowledged changes"
        default: nil
        }
    }
}

/// Whether the server delivers notifications to this process, when it starts. A pooler that gives each transaction another server
/// connection does not, and loses the locks of the process besides.
enum NotificationCheck {
    /// - Parameter patience: how long a notification may take.
    /// - Throws: `StoreError.serverUnsuitable`; `PostgresError` if the server is away.
    static func run(
        on connection: PostgresConnection, _ target: PostgresTarget, patience: Duration = .seconds(5)
    ) throws {
        let listener = try PostgresConnection(to: target, options: PostgresFollower.options)
        defer { listener.close() }
        let channel = "fetchd_check_" + UUID().uuidString
        let notification = PostgresStatement(
            "SELECT pg_notify($1, $2)", [.text(channel), .text("")], isPrepared: false)
        try listener.execute(PostgresStatement("LISTEN \"\(channel)\"", isPrepared: false))
        try connection.execute(notification)
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            let received = try listener.waitForNotifications(atMost: deadline - .now)
            if received.contains(where: { $0.channel == channel }) { return }
        }
        throw refusal(target)
    }

    private static func refusal(_ target: PostgresTarget) -> StoreError {
        .serverUnsuitable(
            why:
                "postgres://\(target) cannot be used. It delivers no notifications (LISTEN, NOTIFY), as a pooler in transaction mode: PgBouncer needs pool_mode = session for fetchd. Connect to the server directly, or through a pooler in session mode."
        )
    }
}

/// Creates and upgrades the tables of a PostgreSQL database. A new database gets the tables of the baseline, and then what the later
/// versions have added.
enum PostgresSchema {
    /// Creates the missing tables. Nodes that start at the same time do it one after another.
    ///
    /// - Throws: `StoreError.databaseFromNewerVersion`, `PostgresError`.
    /// - Parameter name: of the database, for the error.
    static func migrate(_ connection: PostgresConnection, name: String) throws {
        try connection.transaction { transaction in
            let missing = try missing(in: &transaction, name: name)
            if !missing.isEmpty { try transaction.commit(with: missing) }
        }
    }

    /// The statements that create the missing tables. No other node creates them before the transaction ends.
    ///
    /// - Throws: as `migrate`.
    static func missing(in transaction: inout PostgresTransaction, name: String) throws -> [PostgresStatement] {
        let found = try transaction.execute([lock, versions, newest])[2]
        let version = try found[0].value(0, as: Int.self)
        guard version <= Schema.latest else {
            throw StoreError.databaseFromNewerVersion(path: name, schema: version, known: Schema.latest)
        }
        return (Schema.baseline...Schema.latest).filter { $0 > version }.flatMap(statements)
    }

    /// A number that only this program locks.
    private static let lock = PostgresStatement("SELECT pg_advisory_xact_lock(7366736463444231)", isPrepared: false)
    private static let versions = PostgresStatement(
        "CREATE TABLE IF NOT EXISTS schema_versions (version bigint NOT NULL PRIMARY KEY)", isPrepared: false)
    private static let newest = PostgresStatement(
        "SELECT coalesce(max(version), 0) FROM schema_versions", isPrepared: false)

    private static func statements(of version: Int) -> [PostgresStatement] {
        let record = "INSERT INTO schema_versions (version) VALUES (\(version))"
        let texts = Schema.statements(of: version, for: .postgres) + [record]
        return texts.map { PostgresStatement($0, isPrepared: false) }
    }
}
