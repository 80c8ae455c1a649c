import Foundation

extension Webhook {
    /// The secrets that sign at this time: the present one, then the former ones, newest first.
    public func secrets(at now: Date) -> [WebhookSecret] {
        [secret].compactMap(\.self) + formerSecrets.filter { $0.until > now }.map(\.secret)
    }

    /// Replaces the secret. The present one signs for one more day.
    public func rotating(to next: WebhookSecret, at now: Date) -> Webhook {
        var webhook = self
        webhook.secret = next
        webhook.lost.remove(.secret)
        let former = secret.map { FormerSecret($0, until: now.addingTimeInterval(FormerSecret.lifetime)) }
        let signing = [former].compactMap(\.self) + formerSecrets.filter { $0.until > now }
        webhook.formerSecrets = Array(signing.prefix(FormerSecret.most))
        return webhook
    }
}
