import Foundation

extension Webhook {
    /// What signs now: the secret, then those before it, newest first.
    public func secrets(at now: Date) -> [WebhookSecret] {
        [secret] + formerSecrets.filter { $0.until > now }.map(\.secret)
    }

    /// With another secret; the present one signs for a day more.
    public func rotating(to next: WebhookSecret, at now: Date) -> Webhook {
        var webhook = self
        webhook.secret = next
        let former = FormerSecret(secret, until: now.addingTimeInterval(FormerSecret.lifetime))
        webhook.formerSecrets = Array(([former] + formerSecrets.filter { $0.until > now }).prefix(FormerSecret.most))
        return webhook
    }
}
