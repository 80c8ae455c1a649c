import CPostgreSQL
import Glibc

public struct PostgresNotification: Sendable, Hashable {
    public var channel: String
    public var payload = ""
}

extension PostgresConnection {
    /// The most notifications that `waitForNotifications` returns. Later ones are dropped until these are taken.
    public static let notificationLimit = NotificationBuffer.limit

    /// Waits for notifications of the channels that the connection listens to (`LISTEN`). Those that have arrived during other
    /// calls are returned at once.
    ///
    /// Equal notifications are returned once, and at most 10,000 in a call: later ones are dropped until they are taken.
    ///
    /// - Returns: the notifications in the order of their arrival; empty after the time, or at `deadline`.
    /// - Throws: `connectionLost`: notifications were perhaps missed. `interrupted`: the connection stays open.
    public func waitForNotifications(atMost limit: Duration) throws(PostgresError) -> [PostgresNotification] {
        let input = try input(atMost: limit)
        do throws(RoundTripFailure) {
            while true {
                try input.takeArrived()
                takeNotifications()
                let taken = received.takeAll()
                if !taken.isEmpty { return taken }
                _ = try wait.wait(PQsocket(input.handle.raw), for: POLLIN, until: input.deadline)
            }
        } catch {
            switch error {
            case .timedOut: return []
            case .interrupted: throw .interrupted
            case .lost: throw close(after: error, mayBeStored: false)
            }
        }
    }

    func takeNotifications() {
        guard let handle else { return }
        while let notification = PQnotifies(handle.raw) {
            received.add(
                PostgresNotification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
    }
}

/// Received notifications that the caller has not taken yet. Equal ones are kept once, and a flood of different ones is cut
/// off: a notification only says where to look.
struct NotificationBuffer {
    private var order: [PostgresNotification] = []
    private var known: Set<PostgresNotification> = []

    static let limit = 10_000

    mutating func add(_ notification: PostgresNotification) {
        guard order.count < Self.limit, known.insert(notification).inserted else { return }
        order.append(notification)
    }

    mutating func takeAll() -> [PostgresNotification] {
        defer {
            order = []
            known = []
        }
        return order
    }
}
