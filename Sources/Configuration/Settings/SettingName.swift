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
    case minimumFreeBytes = "minimum_free_bytes"
    case maxFileSize = "max_file_size"
    case resumeDataMaxBytes = "resume_data_max_bytes"
    case maxParts = "max_parts"
    case eventRetention = "event_retention"
    case unacknowledgedRetention = "unacknowledged_retention"
    case finishedRetention = "finished_retention"
    case logLevel = "log_level"

    /// Whether only administrators may read and change the setting: it says which addresses callers can reach, what is
    /// kept of the jobs of all callers, or what the log keeps of them.
    public var isAdministrative: Bool {
        switch self {
        case .rateLimit, .maxConcurrentJobs, .maxConnectionsPerHost, .schedule: false
        case .allowNetwork, .denyNetwork, .allowWebhookNetwork, .allowOriginHost, .denyOriginHost, .allowOriginPort,
            .minimumFreeBytes, .maxFileSize, .resumeDataMaxBytes, .maxParts, .eventRetention,
            .unacknowledgedRetention, .finishedRetention, .logLevel:
            true
        }
    }

    /// The type of a value.
    public enum Kind: Sendable, Equatable {
        case integer(ClosedRange<Int64>)
        /// A number of bytes.
        case bytes(ClosedRange<Int64>)
        /// A number of seconds, with a fraction if wanted.
        case seconds(ClosedRange<Double>)
        case text
        case texts
    }

    public var kind: Kind {
        switch self {
        // 0: no limit.
        case .rateLimit: .bytes(0...(1 << 40))
        case .maxConcurrentJobs, .maxConnectionsPerHost: .integer(1...10_000)
        case .minimumFreeBytes, .maxFileSize, .resumeDataMaxBytes: .bytes(0...(1 << 60))
        case .maxParts: .integer(0...(1 << 60))
        case .eventRetention, .unacknowledgedRetention, .finishedRetention: .seconds(Self.durations)
        case .allowNetwork, .denyNetwork, .allowWebhookNetwork, .allowOriginHost, .denyOriginHost, .allowOriginPort,
            .schedule:
            .texts
        case .logLevel: .text
        }
    }

    /// At most ten years, so that the sum of a time and a setting is still a valid time.
    public static let durations = 0...315_360_000.0
}
