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
