import Downloads
import HTTPSemantics

/// A client's description of a webhook. It replaces an earlier one as a whole, except for the secret.
public struct WebhookDeclaration: Sendable, Equatable {
    public var url: String
    public var events: [EventPattern]
    public var headers: [HeaderField]
    public var tls: TLSRule
    /// nil keeps the existing secret, or makes one for a new webhook.
    public var secret: WebhookSecret?

    public init(
        url: String, events: [EventPattern] = Webhook.defaultEvents, headers: [HeaderField] = [],
        tls: TLSRule = TLSRule(), secret: WebhookSecret? = nil
    ) {
        self.url = url
        self.events = events
        self.headers = headers
        self.tls = tls
        self.secret = secret
    }

    /// Whether requests reach this endpoint in the same way as `webhook`. If not, an endpoint that failed may work now.
    func reaches(asDoes webhook: Webhook) -> Bool {
        url == webhook.url && headers == webhook.headers && tls == webhook.tls
    }
}
