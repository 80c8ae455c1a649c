import API
import CurlClient
import Engine
import Rehearsals
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
