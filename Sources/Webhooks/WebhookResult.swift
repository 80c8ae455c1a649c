/// How an endpoint answered a post, for metrics.
public enum WebhookResult: String, Sendable, CaseIterable {
    /// With 2xx.
    case accepted
    /// With another status.
    case rejected
    /// Not at all: no connection, no answer in time.
    case unanswered
}
