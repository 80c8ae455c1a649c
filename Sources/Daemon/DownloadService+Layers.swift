import API
import Aria2RPC
import CurlClient
import Engine
import Rehearsals
import Storage
import Webhooks

/// The options of each layer, made from the options of the service.
extension DownloadService {
    func client(
        _ name: String, admitting addresses: AddressPolicy, _ hosts: HostPolicy = HostPolicy()
    ) throws -> CurlClient {
        var curl = CurlClient.Options()
        curl.admitsAddress = addresses.admits
        curl.hosts = hosts
        curl.maxLookups = options.maxLookups
        return try StartError.wrapping { () throws(CurlClientError) in try CurlClient(options: curl, name: name) }
    }

    func engineOptions(_ rehearsals: RehearsalOrigin?) -> Engine.Options {
        var engine = options.engine
        engine.rehearsalOrigin = rehearsals?.baseURL
        engine.acknowledgementPatience = options.acknowledgementPatience
        return engine
    }

    var webhookOptions: Dispatcher.Options {
        var webhooks = options.webhooks
        webhooks.publicAddresses = AddressPolicy(allowing: options.webhookNetworks, denying: options.deniedNetworks)
        return webhooks
    }

    func aria2(_ store: Store, _ engine: Engine) -> Aria2Service? {
        guard var aria2 = options.aria2 else { return nil }
        aria2.downloadsFolder = AbsolutePath.of(options.downloadsFolder)
        aria2.allowsRehearsals = options.allowsRehearsals
        aria2.version = options.version
        let limits = ServiceLimits.Values(
            maxConcurrentJobs: options.engine.maxConcurrentJobs, rateLimit: options.engine.rateLimit)
        return Aria2Service(
            options: aria2, store: store, engine: engine, limits: .fixed(limits), log: log)
    }

    func apiOptions(_ clients: [CurlClient]) -> APIHandler.Options {
        var api = options.api
        api.version = options.version
        api.acknowledgementPatience = options.acknowledgementPatience
        api.alwaysNeedsToken = options.tokenDemand != nil
        api.allowsRehearsals = options.allowsRehearsals
        api.loops = { clients.map(LoopMetrics.init) }
        return api
    }
}
