import API
import Configuration
import Daemon
import Downloads
import Engine
import Formats
import Foundation
import HTTPServer
import Sealing
import Storage

/// The settings of the service. An option takes precedence over an environment variable, a variable over the configuration
/// file, and the file over the default. The error for an invalid value names its source.
struct Settings: Sendable {
    /// nil: the service does not listen on TCP.
    var listen: ListenAddress?
    var unixSocket: UnixSocket?
    /// nil: as many as the system's limit on file descriptors allows.
    var maxConnections: Int?
    /// nil: half of all connections.
    var maxConnectionsPerAddress: Int?
    var dataDir: String
    var downloadsDir: String
    /// The PostgreSQL database of the jobs; nil: SQLite in the data folder.
    var store: ServerAddress?
    /// Where other nodes of the database reach this one; nil: they do not.
    var nodeAddress: NodeAddress?
    /// Whether the services that share the database use one downloads folder.
    var folderSharing: FolderSharing
    /// Whether the folders are those of the working directory, because it has the database of an earlier version.
    var usesFoldersOfWorkingDirectory: Bool
    /// The settings that can change while the service runs.
    var start: StartSettings
    /// The permissions of finished files, and of folders that are created for them.
    var fileModes: FileModes
    var publicHosts: [String]
    var trustedProxies: TrustedProxies
    var allowedOrigins: AllowedOrigins
    var webhookRetryDelays: [Double]
    var acknowledgementPatience: Double
    var finishedRetentionFiles: FinishedFiles
    var minimumSpeedSeconds: Double
    var streamHeartbeat: Double
    var stopTimeout: Double
    /// Seconds between the announcement of a stop and the stop.
    var stopDelay: Double
    var enableRehearsals: Bool
    /// The session of aria2's interface; nil: the interface is off.
    var aria2Session: Name?
    var key: KeySource
    /// Whether the service starts without the secrets that a lost key has sealed.
    var acceptLostSecrets: Bool
    var allowCoreDumps: Bool
    var observation: ObservationSettings
    var token: String?
    /// The values as the sources have them; a setting that has its default is absent.
    var given: [Key: JSON]
    /// Variables of the environment that look like misspelled settings.
    var unknownVariables: UnknownVariables

    enum Defaults {
        static let listen = "127.0.0.1:8080"
        static let unixSocketMode = "0600"
        /// For the help. `DefaultFolders` chooses the folders.
        static let dataDir = "~/.local/share/fetchd; for root /var/lib/fetchd/data"
        static let downloadsDir = "~/Downloads/fetchd; for root /var/lib/fetchd/downloads"
        static let maxConcurrentJobs = RunningSettings().maxConcurrentJobs
        static let maxConnectionsPerHost = RunningSettings().maxConnectionsPerHost
        static let webhookRetryDelays = "0,5,300,1800,7200,18000,36000,50400,72000,86400"
        static let acknowledgementPatience = 3600.0
        static let eventRetention = RunningSettings().eventRetention
        static let unacknowledgedRetention = RunningSettings().unacknowledgedRetention
        static let minimumSpeedSeconds = 60.0
        static let streamHeartbeat = 15.0
        static let stopTimeout = 25.0
        static let stopDelay = 0.0
        static let aria2Session = "aria2"
        static let logLevel = RunningSettings().logLevel
    }

    /// The names of the settings in the configuration file. The environment variable has the prefix `FETCHD_` and the name in
    /// capitals.
    enum Key: String, CaseIterable {
        case listen
        case unixSocket = "unix_socket"
        case unixSocketMode = "unix_socket_mode"
        case maxConnections = "max_connections"
        case maxConnectionsPerAddress = "max_connections_per_address"
        case dataDir = "data_dir"
        case downloadsDir = "downloads_dir"
        case store
        case nodeURL = "node_url"
        case downloads
        case maxConcurrentJobs = "max_concurrent_jobs"
        case maxConnectionsPerHost = "max_connections_per_host"
        case schedule
        case allowNetwork = "allow_network"
        case denyNetwork = "deny_network"
        case allowWebhookNetwork = "allow_webhook_network"
        case allowOriginHost = "allow_origin_host"
        case denyOriginHost = "deny_origin_host"
        case allowOriginPort = "allow_origin_port"
        case publicHost = "public_host"
        case trustedProxy = "trusted_proxy"
        case allowOrigin = "allow_origin"
        case webhookRetryDelays = "webhook_retry_delays"
        case acknowledgementPatience = "acknowledgement_patience"
        case eventRetention = "event_retention"
        case unacknowledgedRetention = "unacknowledged_retention"
        case finishedRetention = "finished_retention"
        case finishedRetentionFiles = "finished_retention_files"
        case resumeDataMaxBytes = "resume_data_max_bytes"
        case minimumFreeBytes = "minimum_free_bytes"
        case maxFileSize = "max_file_size"
        case maxParts = "max_parts"
        case fileMode = "file_mode"
        case directoryMode = "directory_mode"
        case rateLimit = "rate_limit_bytes_per_second"
        case minimumSpeedSeconds = "minimum_speed_seconds"
        case streamHeartbeat = "stream_heartbeat"
        case stopTimeout = "stop_timeout"
        case stopDelay = "stop_delay"
        case enableRehearsals = "enable_rehearsals"
        case aria2RPC = "aria2_rpc"
        case aria2Session = "aria2_session"
        case keyFile = "key_file"
        case keyCommand = "key_command"
        case acceptLostSecrets = "accept_lost_secrets"
        case allowCoreDumps = "allow_core_dumps"
        case logLevel = "log_level"
        case logFormat = "log_format"
        case requestLog = "request_log"
        case traceOrigins = "trace_origins"
        case token

        var environmentName: String { "FETCHD_" + rawValue.uppercased() }
    }

    /// - Throws: `SettingsError` if the configuration file cannot be read or a value is invalid.
    init(flags: [Key: JSON], configFile: String?) throws {
        let sources = try SettingsSources(flags: flags, configFile: configFile)
        do {
            try self.init(sources)
        } catch let error as SettingsError {
            throw try sources.file.map { try ConfigurationCheck(of: $0).completing(error) } ?? error
        }
    }

    /// - Throws: `SettingsError` if a value is invalid.
    init(_ sources: SettingsSources) throws {
        given = try Key.allCases.reduce(into: [:]) { $0[$1] = try sources.value($1) }
        unknownVariables = sources.unknownVariables
        let address = try sources.string(.listen) ?? Defaults.listen
        listen = address == "none" ? nil : try ListenAddress(address)
        unixSocket = try UnixSocket(reading: sources)
        try Self.checkCombinations(sources)
        maxConnections = try sources.int(.maxConnections)
        maxConnectionsPerAddress = try sources.int(.maxConnectionsPerAddress)
        let (dataDir, downloadsDir) = (try sources.path(.dataDir), try sources.path(.downloadsDir))
        // The folders of the working directory belong together: the files of another database are elsewhere.
        let folders = DefaultFolders.ofProcess(usesWorkingDirectory: dataDir == nil)
        self.dataDir = dataDir ?? folders.data
        self.downloadsDir = downloadsDir ?? folders.downloads
        store = try sources.store
        nodeAddress = try sources.string(.nodeURL).map(NodeAddress.init)
        folderSharing = try sources.folderSharing
        usesFoldersOfWorkingDirectory = folders.areOfWorkingDirectory
        start = try StartSettings(sources)
        fileModes = try FileModes(sources)
        publicHosts = try sources.strings(.publicHost)
        trustedProxies = try Self.proxies(sources.strings(.trustedProxy))
        allowedOrigins = try AllowedOrigins(reading: sources.strings(.allowOrigin))
        webhookRetryDelays = try Self.delays(sources.strings(.webhookRetryDelays))
        acknowledgementPatience =
            try sources.seconds(.acknowledgementPatience) ?? Defaults.acknowledgementPatience
        finishedRetentionFiles = try sources.string(.finishedRetentionFiles).map(FinishedFiles.init(reading:)) ?? .keep
        minimumSpeedSeconds = try sources.seconds(.minimumSpeedSeconds) ?? Defaults.minimumSpeedSeconds
        streamHeartbeat = max(0.1, try sources.seconds(.streamHeartbeat) ?? Defaults.streamHeartbeat)
        stopTimeout = try sources.seconds(.stopTimeout) ?? Defaults.stopTimeout
        stopDelay = try sources.seconds(.stopDelay) ?? Defaults.stopDelay
        enableRehearsals = try sources.bool(.enableRehearsals) ?? false
        aria2Session = try sources.aria2Session
        key = try sources.key
        acceptLostSecrets = try sources.bool(.acceptLostSecrets) ?? false
        allowCoreDumps = try sources.bool(.allowCoreDumps) ?? false
        observation = try ObservationSettings(sources)
        token = try sources.string(.token)
        try token.map(Self.checkToken)
        // An existing database may have an administrator's token. The service looks when it has opened the database.
        let mayHaveToken = store != nil || FileManager.default.fileExists(atPath: self.dataDir + "/fetchd.sqlite")
        if let tokenDemand, token == nil, !mayHaveToken { throw SettingsError(tokenDemand) }
    }

    /// Why the service needs an administrator's token, as a sentence with the remedy; nil if it does not.
    var tokenDemand: String? {
        if allowedOrigins == .any {
            return
                "allow_origin * without a token would let any web page that is opened on this machine use fetchd. Set FETCHD_TOKEN, or list the origins. \(Self.otherRemedy)"
        }
        if let listen, !listen.isLoopback {
            return
                "Listening on \(listen) requires a token, because other machines can connect. Set FETCHD_TOKEN, or listen on a loopback address. \(Self.otherRemedy)"
        }
        return nil
    }

    private static let otherRemedy =
        "Or create a token while fetchd listens on a loopback address: fetchd token create --scope admin."

    /// Checks settings that depend on each other.
    static func checkCombinations(_ sources: SettingsSources) throws {
        if try sources.string(.listen) == "none", try sources.path(.unixSocket) == nil {
            throw SettingsError("listen is 'none', so fetchd needs a Unix domain socket: set --unix-socket.")
        }
        _ = try sources.key
    }

    static func checkToken(_ token: String) throws {
        guard !token.isEmpty else {
            throw SettingsError(
                "The token is empty. Set FETCHD_TOKEN to the token of the first administrator, or unset it: an empty variable is set, too."
            )
        }
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SettingsError(
                "The token must be visible ASCII characters, without spaces or line breaks. Change FETCHD_TOKEN, or unset it."
            )
        }
    }

    static func proxies(_ texts: [String]) throws -> TrustedProxies {
        do throws(TrustedProxies.Unreadable) {
            return try TrustedProxies(texts)
        } catch {
            throw SettingsError(
                "trusted_proxy contains '\(error.text)'; it takes networks, such as 10.0.0.0/8 or 10.0.0.7, or \(TrustedProxies.unixSocket) for the Unix domain socket."
            )
        }
    }

    static func delays(_ texts: [String]) throws -> [Double] {
        let texts = texts.isEmpty ? Defaults.webhookRetryDelays.split(separator: ",").map(String.init) : texts
        return try texts.map { text in
            guard let delay = Quantity.seconds(text) else {
                throw SettingsError(
                    "webhook_retry_delays contains '\(text)'; it takes times such as 0, 90s, 15m or 8h, separated by commas."
                )
            }
            return delay
        }
    }
}
