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

    /// Answers show the URL of a webhook without user and query. A client that sends this form back does not change the URL.
    ///
    /// - Throws: `webhookSecretsLost` if the stored URL is lost.
    func keepingURL(of existing: Webhook?) throws(StoreError) -> WebhookDeclaration {
        guard let existing, url == URLRule.redacted(existing.url), URLRule.isRedacted(url) || url != existing.url else {
            return self
        }
        guard !existing.lost.contains(.url) else { throw .webhookSecretsLost(existing.name, [.url]) }
        var declaration = self
        declaration.url = existing.url
        return declaration
    }
}
