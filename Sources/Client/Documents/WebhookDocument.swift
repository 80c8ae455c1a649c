struct WebhookDocument: Decodable, Sendable {
    var name: String
    var session: String
    var url: String
    var events: [String]
    var state: String
    var headerNames: [String]
    var tls: TLS
    /// Absent from services of earlier versions.
    var reach: String?
    var statistics: Statistics
    var disabledReason: String?
    var createdAt: String
    /// The service returns it only at creation and rotation.
    var secret: String?

    struct TLS: Decodable, Sendable {
        var caFile: String?
        var pinnedPublicKeys: [String: [String]]
        var verify: Bool
    }

    struct Statistics: Decodable, Sendable {
        var attempts: Int
        var successRate: Double?
        var medianLatencySeconds: Double?
        var p95LatencySeconds: Double?
        var pending: Int
        var oldestPendingAt: String?
    }
}

struct WebhookListDocument: Decodable, Sendable {
    var webhooks: [WebhookDocument]
}
