/// The settings that can change while the service runs. The names are those of the options and of the configuration file.
public enum SettingName: String, Sendable, CaseIterable {
    case rateLimit = "rate_limit_bytes_per_second"
    case maxConcurrentJobs = "max_concurrent_jobs"
    case maxConnectionsPerHost = "max_connections_per_host"
    case schedule
    case allowNetwork = "allow_network"
    case denyNetwork = "deny_network"
    case allowWebhookNetwork = "allow_webhook_network"
    case allowOriginHost = "allow_origin_host"
    case denyOriginHost = "deny_origin_host"
    case allowOriginPort = "allow_origin_port"
    case logLevel = "log_level"

    /// Whether only administrators may read and change the setting: it says which addresses callers can reach, or what the
    /// log keeps of them.
    public var isAdministrative: Bool {
        switch self {
        case .rateLimit, .maxConcurrentJobs, .maxConnectionsPerHost, .schedule: false
        case .allowNetwork, .denyNetwork, .allowWebhookNetwork, .allowOriginHost, .denyOriginHost, .allowOriginPort,
            .logLevel:
            true
        }
    }

    /// The type of a value.
    public enum Kind: Sendable, Equatable {
        case integer(ClosedRange<Int64>)
        case text
        case texts
    }

    public var kind: Kind {
        switch self {
        // 0: no limit.
        case .rateLimit: .integer(0...(1 << 40))
        case .maxConcurrentJobs, .maxConnectionsPerHost: .integer(1...10_000)
        case .allowNetwork, .denyNetwork, .allowWebhookNetwork, .allowOriginHost, .denyOriginHost, .allowOriginPort,
            .schedule:
            .texts
        case .logLevel: .text
        }
    }
}
