import CurlClient
import Downloads
import Logging
import Sealing
import Storage

/// The values of all settings. A value here is the default of its setting; `Setting.all` has the rest of each setting.
public struct Settings: Sendable {
    public init() {}

    // MARK: Listening

    /// nil: the service does not listen on TCP.
    public var listen: ListenAddress? = .standard
    /// The path of a Unix domain socket.
    public var unixSocket: String?
    public var unixSocketMode: UInt32 = 0o600
    /// nil: as many as the system's limit on file descriptors allows.
    public var maxConnections: Int?
    /// nil: half of all connections.
    public var maxConnectionsPerAddress: Int?
    public var publicHosts: [String] = []
    public var trustedProxies = TrustedProxies()
    public var allowedOrigins = AllowedOrigins.only([])

    // MARK: Folders and database

    /// nil: `DefaultFolders` chooses it.
    public var dataDir: String?
    public var downloadsDir: String?
    /// The PostgreSQL database of the jobs; nil: SQLite in the data folder.
    public var store: ServerAddress?
    /// Where other nodes of the database reach this one; nil: they do not.
    public var node: NodeAddress?
    /// Whether the services that share the database use one downloads folder.
    public var sharesDownloads = false

    // MARK: Limits

    /// 1 to 10,000.
    public var maxConcurrentJobs = 16
    /// The connections to one host and port; 1 to 10,000.
    public var maxConnectionsPerHost = 6
    /// Bytes per second of all transfers together; nil: no limit.
    public var rateLimit: Int64?
    /// When other limits than these apply.
    public var schedule = Schedule()
    /// Seconds over which a session's `minimum_bytes_per_second` is measured.
    public var minimumSpeedSeconds = 60.0

    // MARK: Destinations

    /// Networks that are not public but that downloads may connect to.
    public var allowedNetworks: [Network] = []
    /// Networks that neither downloads nor webhooks may connect to. They take precedence over all other networks.
    public var deniedNetworks: [Network] = []
    /// Networks that are not public but that webhooks of limited reach may connect to.
    public var webhookNetworks: [Network] = []
    /// The hosts and ports that downloads may be requested from.
    public var hosts = HostPolicy()

    // MARK: Webhooks and events

    public var webhookRetryDelays: [Double] = [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]
    /// Seconds after which the log and the metrics report an unacknowledged finish.
    public var acknowledgementPatience = 3600.0
    /// Seconds for which acknowledged events are kept.
    public var eventRetention = 604_800.0
    /// Seconds for which other events, and jobs of batches whose acknowledgement is missing, are kept.
    public var unacknowledgedRetention = 2_592_000.0
    /// Seconds between the heartbeats of an event stream.
    public var streamHeartbeat = 15.0

    // MARK: Files

    /// Seconds for which jobs are kept after their end; nil: for ever.
    public var finishedRetention: Double?
    /// Whether the files of finished jobs are removed with the jobs.
    public var deletesFinishedFiles = false
    /// Bytes that all downloads that do not run keep together; nil: no limit.
    public var resumeDataMaxBytes: Int64?
    /// Bytes that downloads leave free on their file system; nil: 1 % of it, at most 1 GiB.
    public var minimumFreeBytes: Int64?
    /// Bytes of one file; nil: no limit.
    public var maxFileSize: Int64?
    /// The number of downloads that keep bytes while they do not run; nil: no limit.
    public var maxParts: Int?
    /// The permissions of finished files; nil: as the umask says.
    public var fileMode: UInt32?
    /// The permissions of folders that are created for them.
    public var directoryMode: UInt32?

    // MARK: The process

    public var stopTimeout = 25.0
    /// Seconds between the announcement of a stop and the stop.
    public var stopDelay = 0.0
    public var enableRehearsals = false
    public var aria2RPC = false
    public var aria2Session = Name(trusted: "aria2")
    public var keyFile: String?
    public var keyCommand: String?
    /// Whether the service starts without the secrets that a lost key has sealed.
    public var acceptLostSecrets = false
    public var allowCoreDumps = false
    public var logLevel = Logger.Level.info
    public var logsJSON = false
    /// Whether the log has a line for each request.
    public var requestLog = false
    /// Whether requests to origins name the trace of the job.
    public var traceOrigins = false
    /// The first administrator's token.
    public var token: String?
}

// MARK: - What follows from several settings

extension Settings {
    /// Where the key comes from that seals secrets.
    public var key: KeySource {
        keyFile.map(KeySource.file) ?? keyCommand.map(KeySource.command) ?? .dataFolder
    }

    /// Why the service needs an administrator's token, as a sentence with the remedy; nil if it does not.
    public var tokenDemand: String? {
        let remedy = "Or create a token while fetchd listens on a loopback address: fetchd token create --scope admin."
        if allowedOrigins == .any {
            return
                "allow_origin * without a token would let any web page that is opened on this machine use fetchd. Set FETCHD_TOKEN, or list the origins. \(remedy)"
        }
        if let listen, !listen.isLoopback {
            return
                "Listening on \(listen) requires a token, because other machines can connect. Set FETCHD_TOKEN, or listen on a loopback address. \(remedy)"
        }
        return nil
    }

    /// Checks settings that depend on each other, as far as one source has them all.
    func checkCombinations() throws(SettingsError) {
        if listen == nil, unixSocket == nil {
            throw SettingsError("listen is 'none', so fetchd needs a Unix domain socket: set --unix-socket.")
        }
        if keyFile != nil, keyCommand != nil {
            throw SettingsError("key_file and key_command are both set; one of them gives the key.")
        }
    }
}

/// Where downloads and webhooks may connect to.
public struct DestinationPolicies: Sendable {
    public let downloads: AddressPolicy
    /// The hosts and ports that downloads may be requested from.
    public let hosts: HostPolicy
    /// A receiver often runs on the same machine.
    public let webhooks: AddressPolicy
    /// The rule for webhooks of limited reach.
    public let limitedWebhooks: AddressPolicy

    public init(_ settings: Settings) {
        downloads = AddressPolicy(allowing: settings.allowedNetworks, denying: settings.deniedNetworks)
        hosts = settings.hosts
        webhooks = AddressPolicy(admitting: .allAddresses, denying: settings.deniedNetworks)
        limitedWebhooks = AddressPolicy(allowing: settings.webhookNetworks, denying: settings.deniedNetworks)
    }
}
