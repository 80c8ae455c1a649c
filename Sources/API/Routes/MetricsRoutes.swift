import Downloads
import Engine
import Foundation
import HTTPServer
import HTTPTypes
import Metrics
import Storage

/// `/metrics`: counts and durations in the Prometheus text format. A request reads kept counts and a few index entries,
/// so it costs the same for any number of jobs and deliveries. docs/monitoring.md explains each metric.
struct MetricsRoutes: Sendable {
    let store: Store
    let engine: Engine
    let feed: Feed
    let requests: RequestMeasurements
    let options: APIHandler.Options

    var routes: [Route] { [Route(.get, "/metrics", .scope(.read, of: .service), metrics)] }

    private func metrics(_ context: RequestContext) async throws -> Response {
        var exposition = Exposition()
        let (census, backlog) = (try await store.statistics(), try await store.backlog())
        exposition.addCounts(census, backlog, at: store.time.now)
        exposition.addUnacknowledged(
            census, try await store.unacknowledgedFinishes(), patience: options.acknowledgementPatience,
            at: store.time.now)
        exposition.addTransfers(await engine.load(since: .zero), engine.measurements, store.measurements)
        exposition.addWebhooks(options.webhookPosts())
        exposition.addDatabase(store.activity, store.measurements, await store.files())
        exposition.addLoops(options.loops())
        exposition.addRequests(requests, feed.watching)
        exposition.addNodes(try await store.nodes(), own: store.node?.number)
        exposition.addHealth(database: (try? await store.check()) != nil, folder: engine.folderFault == nil)
        exposition.addProcess(ProcessReading(), version: options.version)
        return Response(
            status: .ok, headers: [.contentType: Exposition.contentType], body: .bytes(Array(exposition.text.utf8)))
    }
}
