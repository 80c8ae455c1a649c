struct WebhookDocument: Decodable, Sendable {
    var name: String
    var session: String
    var url: String
    var events: [String]
    var state: String
    var disabledReason: String?
    var createdAt: String
    /// The service returns it only at creation and rotation.
    var secret: String?
}

struct WebhookListDocument: Decodable, Sendable {
    var webhooks: [WebhookDocument]
}

struct DeliveryDocument: Decodable, Sendable {
    var id: String
    var webhook: String
    var session: String
    var event: Int64
    var type: String
    var state: String
    var attempts: [Attempt]
    var nextAttemptAt: String?

    struct Attempt: Decodable, Sendable {
        var at: String
        var status: Int?
        var error: String?
        var latencySeconds: Double
    }
}
