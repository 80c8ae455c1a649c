import Foundation

extension Webhook {
    /// The secrets that sign at this time: the present one, then the former ones, newest first.
    public func secrets(at now: Date) -> [WebhookSecret] {
        [secret] + formerSecrets.filter { $0.until > now }.map(\.secret)
    }

    /// Replaces the secret. The present one signs for one more day.
    public func rotating(to next: WebhookSecret, at now: Date) -> Webhook {
        var webhook = self
        webhook.secret = next
        let former = FormerSecret(secret, until: now.addingTimeInterval(FormerSecret.lifetime))
        webhook.formerSecrets = Array(([former] + formerSecrets.filter { $0.until > now }).prefix(FormerSecret.most))
        return webhook
    }
}
