import Foundation
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
