import API
import Aria2RPC
import Base
import Configuration
import CurlClient
import Downloads
import Engine
import Formats
import Rehearsals
import Storage
import Webhooks

/// The options of each layer, made from the options of the service.
extension DownloadService {
    func downloadClient() throws -> CurlClient {
        var curl = CurlClient.Options()
        curl.admitsAddress = { [configuration] in configuration.policies.downloads.admits($0) }
        curl.hosts = { [configuration] in configuration.policies.hosts }
        return try client("downloads", curl)
    }

    func webhookClient() throws -> CurlClient {
        var curl = CurlClient.Options()
        curl.admitsAddress = { [configuration] in configuration.policies.webhooks.admits($0) }
        return try client("webhooks", curl)
    }

    private func client(_ name: String, _ curl: CurlClient.Options) throws -> CurlClient {
        var curl = curl
        curl.maxLookups = options.maxLookups
        return try StartError.wrapping { () throws(CurlClientError) in try CurlClient(options: curl, name: name) }
    }

    func engineOptions(_ rehearsals: RehearsalOrigin?) -> Engine.Options {
        var engine = options.engine
        engine.rehearsalOrigin = rehearsals?.baseURL
        engine.acknowledgementPatience = options.start.values.acknowledgementPatience
        return engine
    }

    func folderUse(_ store: Store) -> FolderUse {
        FolderUse(
            by: store.node, sharing: options.folderSharing, holdsLease: { store.holdsLease },
            firstNode: { store.firstNode })
    }

    /// nil in a database of one service.
    func remoteFiles(_ store: Store, _ client: CurlClient) -> RemoteFiles? {
        guard let node = store.node else { return nil }
        let use = folderUse(store)
        return RemoteFiles(
            own: node.number,
            node: { job in use.hasFile(of: job) ? nil : use.owner(of: job) },
            url: { try await store.url(ofNode: $0) },
            relay: CurlFileRelay(client, limit: options.maxRelayedFiles))
    }

    var webhookOptions: Dispatcher.Options {
        var webhooks = options.webhooks
        webhooks.publicAddresses = { [configuration] in configuration.policies.limitedWebhooks }
        return webhooks
    }

    func aria2(_ store: Store, _ engine: Engine) -> Aria2Service? {
        guard var aria2 = options.aria2 else { return nil }
        aria2.downloadsFolder = AbsolutePath.of(options.downloadsFolder)
        aria2.allowsRehearsals = options.start.values.enableRehearsals
        aria2.version = options.version
        return Aria2Service(options: aria2, store: store, engine: engine, limits: aria2Limits(store), log: log)
    }

    func apiOptions(_ clients: [CurlClient], _ dispatcher: Dispatcher) -> APIHandler.Options {
        var api = options.api
        api.version = options.version
        api.acknowledgementPatience = options.start.values.acknowledgementPatience
        api.alwaysNeedsToken = options.start.values.tokenDemand != nil
        api.allowsRehearsals = options.start.values.enableRehearsals
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
                return .init(maxConcurrentJobs: settings.maxConcurrentJobs, rateLimit: settings.rateLimit)
            },
            change: { [configuration] change, note in
                var values: [(name: SettingName, value: JSON?)] = []
                if let jobs = change.maxConcurrentJobs { values.append((.maxConcurrentJobs, .count(jobs))) }
                if let rate = change.rateLimit { values.append((.rateLimit, .integer(rate))) }
                _ = try await configuration.change(try SettingsPatch(values), in: store, audit: note)
            })
    }

    /// Applies the settings to the engine and the log, now and after each change.
    func connect(_ engine: Engine, _ store: Store) {
        configuration.connect(to: store) { [options] settings in
            engine.apply(options.limits(settings))
            options.setLogLevel(settings.settings.logLevel)
        }
    }
}

/// Converts the report of a client's event loop into the type that the metrics use.
extension LoopMetrics {
    init(_ client: CurlClient) {
        let metrics = client.loopMetrics
        self.init(
            loop: client.name, lag: metrics.lag.seconds,
            turns: Histogram(
                bounds: DurationHistogram.bounds.map(\.seconds), counts: metrics.turns.counts,
                sum: metrics.turns.sum.seconds),
            lookups: (metrics.lookupsRunning, metrics.lookupsQueued))
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}
