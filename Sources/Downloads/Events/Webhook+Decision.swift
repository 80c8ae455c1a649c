import Formats
import Foundation

extension Webhook.State {
    /// Seconds of continuous failure after which fetchd disables a webhook: five days, as Standard Webhooks 1.0.0
    /// recommends.
    public static let longestFailure: TimeInterval = 5 * 86_400

    /// Seconds. Failures within this time can have one cause, which may be at fetchd: after a week in which fetchd did not
    /// run, the first attempts can fail because its network is not ready. They do not disable a webhook.
    public static let timeOfOneOutage: TimeInterval = 3_600

    /// The state after a signal; nil if the signal has no effect.
    public func after(_ signal: WebhookSignal) -> Webhook.State? {
        switch (self, signal) {
        case (.enabled(nil), .accepted), (.enabled(nil), .enableRequested), (.disabled, .accepted),
            (.disabled, .rejected), (.disabled, .goneAnswered), (.disabled, .secretsLost):
            nil
        case (.enabled, .accepted), (.enabled, .enableRequested), (.disabled, .enableRequested):
            .enabled(failingSince: nil)
        case (.enabled(nil), .rejected(let now, _)): .enabled(failingSince: now)
        case (.enabled, .rejected(_, wasTried: false)): nil
        case (.enabled(let since?), .rejected(let now, wasTried: true)): Self.failing(since: since, now: now)
        case (.enabled, .goneAnswered): .disabled(reason: "The endpoint answered 410: it is gone.")
        case (.enabled, .secretsLost): .disabled(reason: "The key that sealed its secrets is lost.")
        }
    }

    private static func failing(since: Date, now: Date) -> Webhook.State? {
        guard now.timeIntervalSince(since) >= longestFailure else { return nil }
        return .disabled(reason: "Every attempt failed for five days, since \(since.rfc3339).")
    }

    public enum Name: String, Sendable, CaseIterable { case enabled, disabled }

    public var name: Name {
        switch self {
        case .enabled: .enabled
        case .disabled: .disabled
        }
    }

    public var reason: String? { if case .disabled(let reason) = self { reason } else { nil } }
    public var failingSince: Date? { if case .enabled(let since) = self { since } else { nil } }
}
