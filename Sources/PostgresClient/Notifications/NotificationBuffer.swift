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

    /// The notifications in the order of their arrival.
    mutating func takeAll() -> [PostgresNotification] {
        defer { (order, known) = ([], []) }
        return order
    }
}
