import CurlClient
import Logging

/// The values of all settings that can change while the service runs.
public struct RunningSettings: Sendable, Equatable {
    /// Bytes per second of all transfers together; nil: no limit.
    public var rateLimit: Int64?
    /// 1 to 10,000.
    public var maxConcurrentJobs = 16
    /// To one host and port; 1 to 10,000.
    public var maxConnectionsPerHost = 6
    /// When other limits than these apply.
    public var schedule = Schedule()
    /// Networks that are not public but that downloads may connect to.
    public var allowedNetworks: [Network] = []
    /// Networks that neither downloads nor webhooks may connect to. They take precedence over all other networks.
    public var deniedNetworks: [Network] = []
    /// Networks that are not public but that webhooks of limited reach may connect to.
    public var webhookNetworks: [Network] = []
    /// The hosts and ports that downloads may be requested from.
    public var hosts = HostPolicy()
    /// Bytes that downloads leave free on their file system; nil: 1 % of it, at most 1 GiB.
    public var minimumFreeBytes: Int64?
    /// Bytes of one file; nil: no limit.
    public var maxFileSize: Int64?
    /// Bytes that all downloads that do not run keep together; nil: no limit.
    public var resumeDataMaxBytes: Int64?
    /// The number of downloads that keep bytes while they do not run; nil: no limit.
    public var maxParts: Int?
    /// Seconds for which acknowledged events are kept.
    public var eventRetention = 604_800.0
    /// Seconds for which other events, and jobs of batches whose acknowledgement is missing, are kept.
    public var unacknowledgedRetention = 2_592_000.0
    /// Seconds for which jobs are kept after their end; nil: for ever.
    public var finishedRetention: Double?
    public var logLevel = Logger.Level.info

    public init() {}
}
