/// The addresses to which a webhook may be posted.
public enum WebhookReach: String, Sendable, CaseIterable {
    /// All addresses: a receiver often runs on the same machine or in the same network.
    case any
    /// Public addresses, and the networks of `--allow-webhook-network`.
    case `public`
}
