import API
import Aria2RPC
import CurlClient
import Engine
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
        engine.acknowledgementPatience = options.acknowledgementPatience
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
        aria2.allowsRehearsals = options.allowsRehearsals
        aria2.version = options.version
        return Aria2Service(options: aria2, store: store, engine: engine, limits: aria2Limits(store), log: log)
    }

    func apiOptions(_ clients: [CurlClient], _ dispatcher: Dispatcher) -> APIHandler.Options {
        var api = options.api
        api.version = options.version
        api.acknowledgementPatience = options.acknowledgementPatience
        api.alwaysNeedsToken = options.tokenDemand != nil
        api.allowsRehearsals = options.allowsRehearsals
        api.loops = { clients.map(LoopMetrics.init) }
        api.webhookPosts = { dispatcher.measurements.snapshot.map { ($0.label.rawValue, $0.histogram) } }
        return api
    }
}
