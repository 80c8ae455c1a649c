import API
import Daemon
import Formats
import Foundation
import HTTPServer
import Logging
import Sealing

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
    /// Whether the folders are those of the working directory, because it has the database of an earlier version.
    var usesFoldersOfWorkingDirectory: Bool
    var maxConcurrentJobs: Int
    var maxConnectionsPerHost: Int
    var network: NetworkSettings
    var files: FileSettings
    var publicHosts: [String]
    var allowedOrigins: AllowedOrigins
    var webhookRetryDelays: [Double]
    var acknowledgementPatience: Double
    var eventRetention: Double
    var unacknowledgedRetention: Double
    /// nil: jobs are kept for ever.
    var finishedRetention: Double?
    var finishedRetentionFiles: FinishedFiles
    var resumeDataMaxBytes: Int?
    var rateLimit: Int?
    var minimumSpeedSeconds: Double
    var streamHeartbeat: Double
    var stopTimeout: Double
    var enableRehearsals: Bool
    var key: KeySource
    var allowCoreDumps: Bool
    var logLevel: Logger.Level
    var token: String?

    enum Defaults {
        static let listen = "127.0.0.1:8080"
        static let unixSocketMode = "0600"
        /// For the help. `DefaultFolders` chooses the folders.
        static let dataDir = "~/.local/share/fetchd; for root /var/lib/fetchd/data"
        static let downloadsDir = "~/Downloads/fetchd; for root /var/lib/fetchd/downloads"
        static let maxConcurrentJobs = 16
        static let maxConnectionsPerHost = 6
        static let webhookRetryDelays = "0,5,300,1800,7200,18000,36000,50400,72000,86400"
        static let acknowledgementPatience = 3600.0
        static let eventRetention = 604_800.0
        static let unacknowledgedRetention = 2_592_000.0
        static let minimumSpeedSeconds = 60.0
        static let streamHeartbeat = 15.0
        static let stopTimeout = 25.0
        static let logLevel = "info"
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
        case maxConcurrentJobs = "max_concurrent_jobs"
        case maxConnectionsPerHost = "max_connections_per_host"
        case allowNetwork = "allow_network"
        case denyNetwork = "deny_network"
        case allowWebhookNetwork = "allow_webhook_network"
        case allowOriginHost = "allow_origin_host"
        case denyOriginHost = "deny_origin_host"
        case allowOriginPort = "allow_origin_port"
        case publicHost = "public_host"
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
        case enableRehearsals = "enable_rehearsals"
        case keyFile = "key_file"
        case keyCommand = "key_command"
        case allowCoreDumps = "allow_core_dumps"
        case logLevel = "log_level"
        case token

        var environmentName: String { "FETCHD_" + rawValue.uppercased() }
    }

    /// - Throws: `SettingsError` if the configuration file cannot be read or a value is invalid.
    init(flags: [Key: JSON], configFile: String?) throws {
        let sources = try SettingsSources(flags: flags, configFile: configFile)
        let address = try sources.string(.listen) ?? Defaults.listen
        listen = address == "none" ? nil : try ListenAddress(address)
        unixSocket = try UnixSocket(reading: sources)
        if listen == nil, unixSocket == nil {
            throw SettingsError("listen is 'none', so fetchd needs a Unix domain socket: set --unix-socket.")
        }
        maxConnections = try sources.int(.maxConnections, in: 16...20_000)
        maxConnectionsPerAddress = try sources.int(.maxConnectionsPerAddress, in: 0...20_000)
        let (dataDir, downloadsDir) = (try sources.path(.dataDir), try sources.path(.downloadsDir))
        // The folders of the working directory belong together: the files of another database are elsewhere.
        let folders = DefaultFolders.ofProcess(usesWorkingDirectory: dataDir == nil)
        self.dataDir = dataDir ?? folders.data
        self.downloadsDir = downloadsDir ?? folders.downloads
        usesFoldersOfWorkingDirectory = folders.areOfWorkingDirectory
        maxConcurrentJobs = try sources.int(.maxConcurrentJobs, in: 1...10_000) ?? Defaults.maxConcurrentJobs
        maxConnectionsPerHost =
            try sources.int(.maxConnectionsPerHost, in: 1...10_000) ?? Defaults.maxConnectionsPerHost
        network = try NetworkSettings(sources)
        files = try FileSettings(sources)
        publicHosts = try sources.strings(.publicHost)
        allowedOrigins = try AllowedOrigins(reading: sources.strings(.allowOrigin))
        webhookRetryDelays = try Self.delays(sources.strings(.webhookRetryDelays))
        acknowledgementPatience =
            try sources.seconds(.acknowledgementPatience) ?? Defaults.acknowledgementPatience
        eventRetention = try sources.seconds(.eventRetention) ?? Defaults.eventRetention
        unacknowledgedRetention =
            try sources.seconds(.unacknowledgedRetention) ?? Defaults.unacknowledgedRetention
        finishedRetention = try sources.seconds(.finishedRetention)
        finishedRetentionFiles = try FinishedFiles(reading: sources)
        resumeDataMaxBytes = try sources.int(.resumeDataMaxBytes, in: 0...(1 << 60))
        rateLimit = try sources.int(.rateLimit, in: 1...(1 << 40))
        minimumSpeedSeconds = try sources.seconds(.minimumSpeedSeconds) ?? Defaults.minimumSpeedSeconds
        streamHeartbeat = max(0.1, try sources.seconds(.streamHeartbeat) ?? Defaults.streamHeartbeat)
        stopTimeout = try sources.seconds(.stopTimeout) ?? Defaults.stopTimeout
        enableRehearsals = try sources.bool(.enableRehearsals) ?? false
        key = try sources.key
        allowCoreDumps = try sources.bool(.allowCoreDumps) ?? false
        logLevel = try Self.level(sources.string(.logLevel) ?? Defaults.logLevel)
        token = try sources.string(.token)
        if let token, token.isEmpty || !token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw SettingsError(
                "The token must be visible ASCII characters, without spaces or line breaks. Change FETCHD_TOKEN, or unset it."
            )
        }
        // An existing database may have an administrator's token. The service looks when it has opened the database.
        if let tokenDemand, token == nil, !FileManager.default.fileExists(atPath: self.dataDir + "/fetchd.sqlite") {
            throw SettingsError(tokenDemand)
        }
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

    private static func delays(_ texts: [String]) throws -> [Double] {
        let texts = texts.isEmpty ? Defaults.webhookRetryDelays.split(separator: ",").map(String.init) : texts
        return try texts.map { text in
            guard let delay = Double(text), delay >= 0, delay.isFinite else {
                throw SettingsError("webhook_retry_delays contains '\(text)'; it takes seconds, separated by commas.")
            }
            return delay
        }
    }

    private static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text.lowercased()) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw SettingsError("log_level is '\(text)'; it must be one of \(levels).")
        }
        return level
    }
}
