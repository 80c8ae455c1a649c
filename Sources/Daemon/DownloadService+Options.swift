import API
import Aria2RPC
import Base
import Configuration
import CurlClient
import Downloads
import Engine
import Formats
import HTTPServer
import Logging
import Rehearsals
import Storage
import Webhooks

extension DownloadService {
    /// The folders of the service, and the options of each of its layers. By default the service listens on a free port of
    /// 127.0.0.1.
    public struct Options: Sendable {
        public var dataFolder: String
        public var downloadsFolder: String
        /// The settings, and where they come from. The layers' options have what does not depend on settings alone.
        public var start = StartSettings()
        /// Called with what the log keeps, at the start and when it changes.
        public var setLogLevel: @Sendable (Logger.Level) -> Void = { _ in }
        /// The number of additional connections that the system allows beside this number of running jobs; nil: that of
        /// `engine`.
        public var additionalConnections: (@Sendable (_ jobs: Int) -> Int)?
        /// The largest number of files of other services that are passed on to clients at once. Further requests get 503.
        public var maxRelayedFiles = Int.max
        /// The number of simultaneous DNS lookups, for the downloads and again for the webhooks.
        public var maxLookups = CurlClient.Options().maxLookups
        public var version = ""

        public var store = Store.Options()
        public var engine = Engine.Options()
        public var webhooks = Dispatcher.Options()
        public var feed = Feed.Options()
        public var api = APIHandler.Options()
        public var server = HTTPServer.Options()
        /// The clock of the whole service, except for network timeouts and the heartbeats of streams: these use the clock of
        /// the machine.
        public var time: any TimeSource = SystemTime()

        public init(dataFolder: String, downloadsFolder: String) {
            self.dataFolder = dataFolder
            self.downloadsFolder = downloadsFolder
            server.maxBodyBytes = 32 << 20
        }
    }
}

extension DownloadService.Options {
    var isNode: Bool { store.server != nil }

    var folderSharing: FolderSharing { start.values.sharesDownloads ? .shared : .local }

    func limits(_ settings: EffectiveSettings) -> Engine.Limits {
        var limits = engine.limits
        limits.jobs = settings.maxConcurrentJobs
        limits.scheduledUntil = settings.until
        limits.jobsOfAllNodes = settings.maxConcurrentJobsOfAllNodes
        limits.connectionsPerHost = settings.settings.maxConnectionsPerHost
        limits.hostRules = settings.settings.hostRules
        if let additionalConnections { limits.additionalConnections = additionalConnections(limits.jobs) }
        limits.rate = settings.rateLimit
        limit(&limits.storage, settings.settings)
        return limits
    }

    private func limit(_ limits: inout Engine.StorageLimits, _ settings: Settings) {
        limits.minimumFreeBytes = settings.minimumFreeBytes
        limits.maxFileSize = settings.maxFileSize
        limits.maxResumeDataBytes = settings.resumeDataMaxBytes
        limits.maxParts = settings.maxParts
        limits.retention = Retention(
            acknowledged: settings.eventRetention, unacknowledged: settings.unacknowledgedRetention)
        limits.finishedRetention = settings.finishedRetention.map {
            // Only a restart changes what happens to the files.
            FinishedRetention(
                acknowledged: $0, unacknowledged: limits.retention.unacknowledged,
                deletesFiles: start.values.deletesFinishedFiles)
        }
    }
}

/// The options of each layer, made from the options of the service.
extension DownloadService {
    func downloadClient() async throws -> CurlClient {
        var curl = CurlClient.Options()
        curl.admitsAddress = { [configuration] in configuration.policies.downloads.admits($0) }
        curl.hosts = { [configuration] in configuration.policies.hosts }
        return try await client("downloads", curl)
    }

    func webhookClient() async throws -> CurlClient {
        var curl = CurlClient.Options()
        curl.admitsAddress = { [configuration] in configuration.policies.webhooks.admits($0) }
        return try await client("webhooks", curl)
    }

    private func client(_ name: String, _ curl: CurlClient.Options) async throws -> CurlClient {
        var curl = curl
        curl.maxLookups = options.maxLookups
        return try await StartError.wrapping { () throws(CurlClientError) in try CurlClient(options: curl, name: name) }
    }

    /// The locations that are folders, besides the downloads folder. Their folders are opened when the engine starts.
    func declaredLocations(_ store: Store) async throws -> [Location] {
        let settings = options.start.values
        var locations: [Location] = []
        for rule in settings.locations {
            guard let folder = rule.folder else { continue }
            let modes = FileModes(
                file: folder.fileMode ?? settings.fileMode, folder: folder.directoryMode ?? settings.directoryMode)
            locations.append(
                try await Location(
                    rule.name, at: folder.path, incomplete: folder.incompletePath,
                    minimumFreeBytes: folder.minimumFreeBytes, modes: modes, for: folderUse(store), of: store))
        }
        return locations
    }

    func engineOptions(_ rehearsals: RehearsalOrigin?) -> Engine.Options {
        var engine = options.engine
        engine.rehearsalOrigin = rehearsals?.baseURL
        engine.acknowledgementPatience = options.start.values.acknowledgementPatience
        return engine
    }

    var webhookOptions: Dispatcher.Options {
        var webhooks = options.webhooks
        webhooks.publicAddresses = { [configuration] in configuration.policies.limitedWebhooks }
        return webhooks
    }

    func aria2(_ store: Store, _ engine: Engine) -> Aria2Service? {
        guard options.start.values.aria2RPC else { return nil }
        var aria2 = Aria2Service.Options()
        aria2.session = options.start.values.aria2Session
        aria2.allowsRehearsals = options.start.values.enableRehearsals
        aria2.version = options.version
        return Aria2Service(options: aria2, store: store, engine: engine, limits: aria2Limits(store), log: log)
    }

    func apiOptions(_ clients: [CurlClient], _ dispatcher: Dispatcher) -> APIHandler.Options {
        var api = options.api
        api.version = options.version
        api.settings = options.start.values
        api.loops = { clients.map(LoopMetrics.init) }
        api.webhookPosts = { dispatcher.measurements.snapshot.map { ($0.label.rawValue, $0.histogram) } }
        return api
    }
}

/// The settings that can change while the service runs.
extension DownloadService {
    /// Replaces the settings of the start that can change while the service runs. What a client has set still applies.
    ///
    /// - Returns: the settings whose start values differ.
    @discardableResult
    public func reload(_ start: StartSettings) async -> [StartChange] {
        var start = start
        start.isNode = options.isNode
        let changes = configuration.replaceStart(start, at: options.time.now)
        do {
            try await configuration.audit(
                changes, by: AuditNote(caller: nil, name: nil, address: "local", action: "SIGHUP"))
        } catch {
            log.warning("The changes of the configuration are not in the audit log. \(error)")
        }
        return changes
    }

    /// The limits as aria2's interface shows and changes them: by the same way as `PATCH /v1/service`.
    func aria2Limits(_ store: Store) -> ServiceLimits {
        ServiceLimits(
            current: { [configuration] in
                let settings = configuration.effective.settings
                return (settings.maxConcurrentJobs, settings.rateLimit)
            },
            change: { [configuration] change, note in
                var values: [(name: SettingName, value: JSON?)] = []
                if let jobs = change.maxConcurrentJobs { values.append((.maxConcurrentJobs, .count(jobs))) }
                if let rate = change.rateLimit { values.append((.rateLimit, .integer(rate))) }
                _ = try await configuration.change(try SettingsPatch(values), in: store, audit: note)
            })
    }

    func connect(_ engine: Engine, _ store: Store) {
        configuration.connect(to: store) { [options] settings in
            engine.apply(options.limits(settings))
            options.setLogLevel(settings.settings.logLevel)
        }
    }
}

extension LoopMetrics {
    init(_ client: CurlClient) {
        let metrics = client.loopMetrics
        self.init(
            loop: client.name, lag: metrics.lag / .seconds(1), turns: metrics.turns,
            lookups: (metrics.lookupsRunning, metrics.lookupsQueued))
    }
}
