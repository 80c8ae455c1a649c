import Downloads

/// Which events an enabled webhook gets.
struct WebhookSubscription: Sendable {
    let key: Int64
    let name: String
    let patterns: [EventPattern]

    func includes(_ type: EventType) -> Bool { patterns.contains { $0.matches(type) } }
}
