import Base
import Downloads
import Engine
import Foundation
import HTTPServer
import HTTPTypes
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

/// Metrics of one thread that runs transfers. The thread belongs to a layer that the API does not import; the
/// executable passes its metrics on.
public struct LoopMetrics: Sendable {
    /// The name of the thread, here and in `ps -L`.
    public var loop: String
    /// The longest delay of the last minute, in seconds: how long a command, a timer or a socket waited for the thread.
    public var lag: TimeInterval
    /// The durations of the thread's turns, in seconds.
    public var turns: Histogram
    /// The number of running name lookups, and of queued ones.
    public var lookups: (running: Int, queued: Int)

    public init(loop: String, lag: TimeInterval, turns: Histogram, lookups: (running: Int, queued: Int)) {
        self.loop = loop
        self.lag = lag
        self.turns = turns
        self.lookups = lookups
    }
}

/// Metrics in the Prometheus text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).
struct Exposition {
    typealias Sample = (labels: [String: String], value: Double)

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    private(set) var text = ""

    /// Adds a metric whose value can rise and fall.
    mutating func gauge(_ name: String, _ help: String, _ samples: () -> [Sample]) {
        add(name, help, type: "gauge", samples())
    }

    /// Adds a metric with one value; nothing if the value is not known.
    mutating func gauge(_ name: String, _ help: String, _ value: Double?) {
        if let value { gauge(name, help) { [([:], value)] } }
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Int?) { gauge(name, help, value.map { Double($0) }) }

    /// Adds a metric whose value only rises.
    mutating func counter(_ name: String, _ help: String, _ samples: () -> [Sample]) {
        add(name, help, type: "counter", samples())
    }

    /// Adds a distribution of values. In this format, each bucket also counts the values of the buckets before it.
    mutating func histogram(_ name: String, _ help: String, _ samples: [(labels: [String: String], value: Histogram)]) {
        announce(name, help, type: "histogram")
        for (labels, histogram) in samples {
            var total = 0
            for (bound, count) in zip(histogram.bounds.map(Self.number) + ["+Inf"], histogram.counts) {
                total += count
                add("\(name)_bucket", (labels.merging(["le": bound]) { $1 }, Double(total)))
            }
            add("\(name)_sum", (labels, histogram.sum))
            add("\(name)_count", (labels, Double(total)))
        }
    }

    private mutating func add(_ name: String, _ help: String, type: String, _ samples: [Sample]) {
        announce(name, help, type: type)
        for sample in samples { add(name, sample) }
    }

    private mutating func announce(_ name: String, _ help: String, type: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func add(_ name: String, _ sample: Sample) {
        let labels = sample.labels.sorted { $0.key < $1.key }.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(
            separator: ",")
        text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.number(sample.value))\n"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
