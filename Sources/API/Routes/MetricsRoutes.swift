import Downloads
import Engine
import Foundation
import HTTPServer
import HTTPTypes
import Metrics
import Storage

/// `/metrics`: counts and durations in the Prometheus text format. A request reads kept counts and a few index entries,
/// so it costs the same for any number of jobs and deliveries. docs/monitoring.md explains each metric.
///
/// While the database fails, the metrics that are read from it are missing. The others show the fault.
struct MetricsRoutes: Sendable {
    let store: Store
    let engine: Engine
    let feed: Feed
    let requests: RequestMeasurements
    let options: APIHandler.Options

    var routes: [Route] { [Route(.get, "/metrics", .scope(.read, of: .service), isLarge: true, metrics)] }

    private func metrics(_ context: RequestContext) async throws -> Response {
        var exposition = Exposition()
        let stored = try? await Stored(store)
        if let stored { add(stored, to: &exposition) }
        exposition.addTransfers(await engine.load(since: .zero), engine.measurements, store.measurements)
        exposition.addWebhooks(options.webhookPosts())
        exposition.addDatabase(store.activity, store.measurements, await store.files())
        exposition.addLoops(options.loops())
        exposition.addRequests(requests, feed.watching)
        exposition.addLease(isLeader: store.isLeader, seconds: store.leaseSeconds)
        let isUsable = stored == nil ? false : (try? await store.check()) != nil
        exposition.addHealth(database: isUsable, folder: engine.folderFault == nil)
        exposition.addProcess(ProcessReading(), version: options.version)
        return Response(
            status: .ok, headers: [.contentType: Exposition.contentType], body: .bytes(Array(exposition.text.utf8)))
    }

    private func add(_ stored: Stored, to exposition: inout Exposition) {
        let now = store.time.now
        exposition.addCounts(stored.census, stored.backlog, at: now)
        exposition.addUnacknowledged(
            stored.census, stored.finishes, patience: options.acknowledgementPatience, at: now)
        exposition.addNodes(stored.nodes)
    }
}

extension MetricsRoutes {
    /// What is read from the database.
    private struct Stored {
        let census: StoreStatistics
        let backlog: StoreBacklog
        let finishes: [UnacknowledgedFinish]
        let nodes: [NodeStatus]

        init(_ store: Store) async throws(StoreError) {
            (census, backlog) = (try await store.statistics(), try await store.backlog())
            (finishes, nodes) = (try await store.unacknowledgedFinishes(), try await store.nodes())
        }
    }
}
