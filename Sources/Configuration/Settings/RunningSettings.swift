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
    public var logLevel = Logger.Level.info

    public init() {}
}
