import CurlClient
import Downloads
import Formats
import Foundation
import Glibc
import Logging
import Sealing
import Storage

/// The values of all settings. A value here is the default of its setting; `Setting.all` has the rest of each setting.
public struct Settings: Sendable {
    public init() {}

    /// nil: the service does not listen on TCP.
    public var listen: ListenAddress? = .standard
    public var unixSocket: String?
    public var unixSocketMode: UInt32 = 0o600
    /// nil: as many as the system's limit on file descriptors allows.
    public var maxConnections: Int?
    /// nil: half of all connections.
    public var maxConnectionsPerAddress: Int?
    public var publicHosts: [String] = []
    public var trustedProxies = TrustedProxies()
    public var allowedOrigins = AllowedOrigins.only([])

    /// nil: `DefaultFolders` chooses it.
    public var dataDir: String?
    public var downloadsDir: String?
    public var locations: [LocationRule] = []
    public var locationCredentials: [LocationCredentials] = []
    public var store: ServerAddress?
    public var nodeURL: NodeAddress?
    public var sharesDownloads = false

    public var maxConcurrentJobs = 16
    /// The connections to one host and port; 1 to 10,000.
    public var maxConnectionsPerHost = 6
    public var hostRules = HostRules()
    /// Bytes per second of all transfers together; nil: no limit.
    public var rateLimit: Int64?
    public var schedule = Schedule()
    public var minimumSpeedSeconds = 60.0

    public var allowedNetworks: [Network] = []
    public var deniedNetworks: [Network] = []
    public var webhookNetworks: [Network] = []
    public var hosts = HostPolicy()

    public var webhookRetryDelays: [Double] = [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]
    public var acknowledgementPatience = 3600.0
    /// Seconds for which acknowledged events are kept.
    public var eventRetention = 604_800.0
    /// Seconds for which other events, and jobs of batches whose acknowledgement is missing, are kept.
    public var unacknowledgedRetention = 2_592_000.0
    public var streamHeartbeat = 15.0

    /// Seconds for which jobs are kept after their end; nil: for ever.
    public var finishedRetention: Double?
    public var deletesFinishedFiles = false
    /// Bytes that all downloads that do not run keep together; nil: no limit.
    public var resumeDataMaxBytes: Int64?
    /// Bytes that downloads leave free on their file system; nil: 1 % of it, at most 1 GiB.
    public var minimumFreeBytes: Int64?
    /// Bytes of one file; nil: no limit.
    public var maxFileSize: Int64?
    /// The number of downloads that keep bytes while they do not run; nil: no limit.
    public var maxParts: Int?
    public var fileMode: UInt32?
    public var directoryMode: UInt32?

    public var stopTimeout = 25.0
    public var stopDelay = 0.0
    public var enableRehearsals = false
    public var aria2RPC = false
    public var aria2Session = Name(trusted: "aria2")
    public var keyFile: String?
    public var keyCommand: String?
    public var acceptLostSecrets = false
    public var allowCoreDumps = false
    public var logLevel = Logger.Level.info
    public var logsJSON = false
    public var requestLog = false
    public var traceOrigins = false
    public var token: String?

    public var key: KeySource { keyFile.map(KeySource.file) ?? keyCommand.map(KeySource.command) ?? .dataFolder }

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

public struct DestinationPolicies: Sendable {
    public let downloads: AddressPolicy
    public let hosts: HostPolicy
    /// A receiver often runs on the same machine.
    public let webhooks: AddressPolicy
    public let limitedWebhooks: AddressPolicy

    public init(_ settings: Settings) {
        downloads = AddressPolicy(allowing: settings.allowedNetworks, denying: settings.deniedNetworks)
        hosts = settings.hosts
        webhooks = AddressPolicy(admitting: .allAddresses, denying: settings.deniedNetworks)
        limitedWebhooks = AddressPolicy(allowing: settings.webhookNetworks, denying: settings.deniedNetworks)
    }
}

/// The settings with which the service is started: those of options, environment, file and defaults.
public struct StartSettings: Sendable {
    public var values: Settings
    /// A setting without a source has its default.
    public var sources: [SettingName: SettingSource]
    /// The largest number of jobs that the system lets run at once.
    public var mostConcurrentJobs: Int
    /// Whether several services can share the database. Then the jobs that a client allows are those of all of them together,
    /// and the start sets the limit of this one.
    public var isNode: Bool

    public init(
        _ values: Settings = Settings(), sources: [SettingName: SettingSource] = [:],
        mostConcurrentJobs: Int = .max, isNode: Bool = false
    ) {
        self.values = values
        self.sources = sources
        self.mostConcurrentJobs = mostConcurrentJobs
        self.isNode = isNode
    }

    public mutating func take(stored: [String: JSON]) {
        for (text, value) in stored {
            guard let setting = Setting[SettingName(rawValue: text)], setting.isRunning else { continue }
            try? setting.set(value, in: &values)
        }
    }
}

/// What a start of the service reads: the settings, and what follows from them on this machine.
public struct ServiceSettings: Sendable {
    public var start: StartSettings
    public let dataFolder: String
    public let downloadsFolder: String
    public let unknownVariables: UnknownVariables

    public init(flags: [SettingName: JSON], configFile: String?) throws(SettingsError) {
        let sources = try SettingsSources(flags: flags, configFile: configFile)
        do throws(SettingsError) {
            try self.init(sources)
        } catch {
            guard let file = sources.file else { throw error }
            throw try ConfigurationCheck(of: file).completing(error)
        }
    }

    public init(_ sources: SettingsSources) throws(SettingsError) {
        let values = try sources.settings()
        if values.sharesDownloads, values.store == nil {
            throw SettingsError("downloads is 'shared', but the service has a database of its own. Set --store, too.")
        }
        start = StartSettings(values, isNode: values.store != nil)
        for setting in Setting.all { start.sources[setting.name] = sources.source(of: setting) }
        let folders = DefaultFolders.ofProcess()
        if values.dataDir == nil { try folders.requireNoDatabaseOfAnEarlierVersion() }
        dataFolder = values.dataDir ?? folders.data
        downloadsFolder = values.downloadsDir ?? folders.downloads
        for rule in values.locations {
            do throws(ValueFault) {
                try rule.folder?.requireOtherFolders(
                    than: [AbsolutePath.of(downloadsFolder)], of: "the downloads folder")
            } catch {
                throw SettingsError("location contains '\(rule.text)', which \(error.why).")
            }
        }
        for file in values.locationCredentials {
            guard values.locations.contains(where: { $0.name == file.location && $0.bucket != nil }) else {
                throw SettingsError(
                    "location_credentials names the location \(file.location), which is no s3:// bucket of --location.")
            }
        }
        unknownVariables = sources.unknownVariables
        // An existing database may have an administrator's token. The service looks when it has opened the database.
        let mayHaveToken =
            values.store != nil || FileManager.default.fileExists(atPath: dataFolder + "/fetchd.sqlite")
        if let demand = values.tokenDemand, values.token == nil, !mayHaveToken { throw SettingsError(demand) }
    }
}

/// The folders of a service whose settings do not name them. They do not depend on the working directory.
public struct DefaultFolders: Sendable, Equatable {
    public var data: String
    public var downloads: String

    /// - Parameter userDirectories: the text of `user-dirs.dirs` of xdg-user-dirs; nil without this file.
    public init(isRoot: Bool, home: String, environment: [String: String], userDirectories: String?) {
        // systemd sets STATE_DIRECTORY for a unit with StateDirectory= (systemd.exec(5)).
        let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        if let common = state ?? (isRoot ? "/var/lib/fetchd" : nil) {
            (data, downloads) = (common + "/data", common + "/downloads")
        } else {
            let shared = Self.absolute(environment["XDG_DATA_HOME"]) ?? home + "/.local/share"
            let personal = userDirectories.flatMap { Self.downloads(in: $0, home: home) } ?? home + "/Downloads"
            (data, downloads) = (shared + "/fetchd", personal + "/fetchd")
        }
    }

    /// Relative paths are ignored (XDG Base Directory Specification 0.8).
    private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }

    /// The value of `XDG_DOWNLOAD_DIR="$HOME/..."` or `="/..."` (user-dirs.dirs(5)).
    private static func downloads(in text: String, home: String) -> String? {
        let name = "XDG_DOWNLOAD_DIR=\""
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix(name) }), line.hasSuffix("\"") else {
            return nil
        }
        let path = String(line.dropFirst(name.count).dropLast())
        return absolute(path.hasPrefix("$HOME/") ? home + path.dropFirst("$HOME".count) : path)
    }

    public static func ofProcess() -> DefaultFolders {
        let environment = ProcessInfo.processInfo.environment
        let home = FileManager.default.homeDirectoryForCurrentUser.path
        let configuration = absolute(environment["XDG_CONFIG_HOME"]) ?? home + "/.config"
        return DefaultFolders(
            isRoot: geteuid() == 0, home: home, environment: environment,
            userDirectories: try? String(contentsOfFile: configuration + "/user-dirs.dirs", encoding: .utf8))
    }

    /// fetchd 0.2.0 used a database in `data` of the working directory. A start must not begin with an empty one instead.
    public func requireNoDatabaseOfAnEarlierVersion() throws(SettingsError) {
        let former = FileManager.default.currentDirectoryPath + "/data/fetchd.sqlite"
        guard FileManager.default.fileExists(atPath: former),
            !FileManager.default.fileExists(atPath: data + "/fetchd.sqlite")
        else { return }
        throw SettingsError(
            "An earlier version of fetchd has left its database in \(former), and this one does not look there by itself. To use it, give --data-dir ./data and --downloads-dir ./downloads, or the settings data_dir and downloads_dir. For a new database in \(data), give --data-dir \(data)."
        )
    }
}
