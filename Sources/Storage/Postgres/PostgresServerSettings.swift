import PostgresClient

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
