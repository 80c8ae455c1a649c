import Foundation
import PostgresClient

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
