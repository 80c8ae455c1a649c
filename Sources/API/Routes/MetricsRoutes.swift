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
    let importer: Importer
    let options: APIHandler.Options

    var routes: [Route] { [Route(.get, "/metrics", .scope(.read, of: .service), isLarge: true, metrics)] }

    private func metrics(_ context: RequestContext) async throws -> Response {
        var exposition = Exposition()
        let stored = try? await Stored(store)
        if let stored { exposition.add(stored, patience: options.settings.acknowledgementPatience, at: store.time.now) }
        exposition.addTransfers(await engine.load(since: .zero), engine.measurements, store.measurements)
        exposition.histogram(
            "fetchd_webhook_duration_seconds",
            "Posts to webhooks by their result: accepted (2xx), rejected (another status), unanswered.",
            options.webhookPosts().map { (["result": $0.result], $0.durations) })
        exposition.addDatabase(store.activity, store.measurements, await store.files())
        exposition.addLoops(options.loops())
        exposition.addRequests(requests, feed.watching)
        exposition.counter(
            "fetchd_imported_jobs_total", "Jobs that imports of lists have created.", importer.createdJobs)
        exposition.gauge(
            "fetchd_node_is_leader", "1 if this node does what one node does for all; 0 if not.",
            store.isLeader ? 1 : 0)
        exposition.gauge(
            "fetchd_node_lease_seconds",
            "Seconds until the lease of this node in a PostgreSQL database ends, unless it is renewed.",
            store.leaseSeconds.map { [([:], $0)] } ?? [])
        let isUsable = stored == nil ? false : (try? await store.check()) != nil
        exposition.gauge(
            "fetchd_healthy", "1 if fetchd can use the database, and the folder of the downloads; 0 if not.",
            by: "part", [("database", isUsable ? 1 : 0), ("downloads_folder", engine.folderFault == nil ? 1 : 0)])
        exposition.addLocations((try? await engine.locations()) ?? [])
        exposition.addProcess(ProcessReading(), version: options.version)
        return Response(
            status: .ok, headers: [.contentType: Exposition.contentType], body: .bytes(Array(exposition.text.utf8)))
    }
}

private struct Stored {
    let census: StoreStatistics
    let backlog: StoreBacklog
    let finishes: [UnacknowledgedFinish]
    /// Empty if the service has a database of its own.
    let nodes: [NodeStatus]
    let consumers: [(consumer: Consumer, lag: ConsumerLag)]

    init(_ store: Store) async throws(StoreError) {
        (census, backlog) = (try await store.statistics(), try await store.backlog())
        (finishes, nodes) = (try await store.unacknowledgedFinishes(), try await store.nodes())
        consumers = try await store.consumers(visible: .all)
    }
}

extension Exposition {
    fileprivate mutating func add(_ stored: Stored, patience: TimeInterval, at now: Date) {
        let (census, backlog, nodes) = (stored.census, stored.backlog, stored.nodes)
        // After a jump of the clock, a time can lie ahead.
        func age(of time: Date?) -> Double { time.map { max(0, now.timeIntervalSince($0)) } ?? 0 }
        gauge(
            "fetchd_jobs", "Jobs by state.", by: "state",
            JobState.Kind.allCases.map { ($0.rawValue, census.jobs[$0] ?? 0) })
        gauge(
            "fetchd_queue_oldest_age_seconds",
            "Seconds since the creation of the oldest queued job that no not_before holds; 0 without one.",
            age(of: backlog.oldestQueued))
        gauge("fetchd_sessions", "Sessions, including deleted sessions that are not settled yet.", census.sessions)
        gauge(
            "fetchd_webhooks", "Webhooks by state.", by: "state",
            Webhook.State.Kind.allCases.map { ($0.rawValue, census.webhooks[$0] ?? 0) })
        gauge(
            "fetchd_deliveries", "Deliveries in the journal, by state.", by: "state",
            Delivery.State.Kind.allCases.map { state in
                (state.rawValue, state == .pending ? census.pendingDeliveries : census.settledDeliveries[state] ?? 0)
            })
        gauge(
            "fetchd_outbox_oldest_age_seconds",
            "Seconds since the oldest event with a pending delivery; 0 without one.", age(of: backlog.oldestDelivery))
        counter("fetchd_events_total", "Events that were ever appended to the journal.", census.lastEvent)
        gauge("fetchd_parts", "Jobs with bytes that are not a finished file.", backlog.parts)
        gauge("fetchd_parts_bytes", "Durable bytes of these jobs.", backlog.partBytes)
        let ages = stored.finishes.map { age(of: $0.agingSince) }
        gauge(
            "fetchd_finishes_unacknowledged", "Finished batches whose acknowledgement is expected and missing.",
            census.unacknowledgedFinishes)
        gauge(
            "fetchd_sessions_unacknowledged",
            "Sessions with a finish that is unacknowledged for longer than --acknowledgement-patience.",
            ages.count { $0 >= patience })
        gauge(
            "fetchd_finishes_unacknowledged_oldest_age_seconds",
            "Age of the oldest unacknowledged finish; 0 without one.", ages.max() ?? 0)
        gauge(
            "fetchd_consumer_lag_events",
            "Unacknowledged events of each consumer; counted up to \(ConsumerLag.limit).",
            stored.consumers.map { (["consumer": $0.consumer.name.text], Double($0.lag.events)) })
        gauge(
            "fetchd_consumer_oldest_age_seconds",
            "Seconds since the oldest unacknowledged event of each consumer; 0 without one.",
            stored.consumers.map { (["consumer": $0.consumer.name.text], age(of: $0.lag.oldestAt)) })
        counter(
            "fetchd_consumer_given_up_total", "Events that each consumer has given up.",
            stored.consumers.map { (["consumer": $0.consumer.name.text], Double($0.consumer.givenUp)) })
        gauge(
            "fetchd_nodes",
            "Nodes that share the database by state: running, draining, away (the lease has ended) or stopped.",
            by: "state",
            NodeStatus.State.allCases.map { state in
                (state.rawValue, nodes.isEmpty ? (state == .running ? 1 : 0) : nodes.count { $0.state == state })
            })
    }

    fileprivate mutating func addTransfers(
        _ load: EngineLoad, _ engine: EngineMeasurements, _ store: StoreMeasurements
    ) {
        counter("fetchd_received_bytes_total", "Bytes of bodies that all downloads have received.", load.bytesReceived)
        gauge("fetchd_running_attempts", "Attempts that run now.", load.slotsUsed)
        gauge("fetchd_max_running_attempts", "The largest number of attempts that may run at once.", load.slots)
        histogram(
            "fetchd_job_duration_seconds", "From the creation of a job to its end, by the state in which it ended.",
            store.jobs.snapshot.map { (["state": $0.label.name], $0.histogram) })
        histogram(
            "fetchd_attempt_duration_seconds", "From the start of an attempt to its end, by its result.",
            engine.attempts.snapshot.map { (["result": $0.label.rawValue], $0.histogram) })
        counter(
            "fetchd_attempt_failures_total", "Failed attempts by the code of their failure.",
            engine.failures.snapshot.map { (["code": $0.label.rawValue], Double($0.count)) })
        histogram(
            "fetchd_sync_duration_seconds", "Syncs of parts of downloads to the disk, one or several parts at once.",
            [([:], engine.syncs.snapshot)])
        gauge(
            "fetchd_hosts", "Servers of downloads that are remembered, by state: open, pacing, closed, half_open.",
            by: "state", HostGate.State.allCases.map { ($0.rawValue, load.hosts[$0] ?? 0) })
        counter(
            "fetchd_refused_requests_total", "Requests that servers refused because they get too many.", load.refusals)
        gauge("fetchd_downloads_free_bytes", "Free space of the file system of the downloads.", load.disk?.free)
        gauge("fetchd_downloads_size_bytes", "Size of the file system of the downloads.", load.disk?.total)
    }

    fileprivate mutating func addLocations(_ locations: [LocationStatus]) {
        func values(_ value: (LocationStatus) -> Double?) -> [([String: String], Double)] {
            locations.compactMap { location in value(location).map { (["location": location.name.text], $0) } }
        }
        gauge(
            "fetchd_location_healthy", "1 if files can go to the location now; 0 if not.",
            values { $0.isHealthy ? 1 : 0 })
        gauge(
            "fetchd_location_free_bytes", "Free space of the file system of the location.",
            values { $0.freeBytes.map(Double.init) })
        gauge(
            "fetchd_location_waiting_jobs", "Jobs that wait for the location: for space, or until it works.",
            values { Double($0.waiting) })
        counter(
            "fetchd_location_sent_bytes_total", "Bytes that were sent to the bucket of the location; 0 for a folder.",
            values { Double($0.bytesSent) })
    }

    fileprivate mutating func addDatabase(_ activity: DatabaseActivity, _ store: StoreMeasurements, _ files: StoreFiles)
    {
        counter(
            "fetchd_database_statements_total", "SQL statements run since the service started.", activity.statements)
        counter(
            "fetchd_database_commits_total", "Database commits since the service started, each synced to the disk.",
            activity.commits)
        histogram(
            "fetchd_database_commit_duration_seconds",
            "Database commits, from their first statement to the end of their sync.", [([:], store.commits.snapshot)])
        gauge(
            "fetchd_database_size_bytes", "Size of the database and of its write-ahead log.", by: "file",
            [("database", files.database), ("log", files.log)])
        guard let free = files.free, let total = files.total else { return }
        gauge("fetchd_data_free_bytes", "Free space of the file system of the database.", free)
        gauge("fetchd_data_size_bytes", "Size of the file system of the database.", total)
    }

    fileprivate mutating func addLoops(_ loops: [LoopMetrics]) {
        gauge(
            "fetchd_transfer_loop_lag_seconds",
            "The longest that anything had to wait for the thread of all transfers within the last minute.",
            loops.map { (["loop": $0.loop], $0.lag) })
        histogram(
            "fetchd_transfer_loop_turn_seconds", "Durations of the turns of the thread of all transfers.",
            loops.map { (["loop": $0.loop], $0.turns) })
        gauge(
            "fetchd_name_lookups", "Name lookups by state: running or queued.",
            loops.flatMap { loop in
                [("running", loop.lookups.running), ("queued", loop.lookups.queued)].map { state, count in
                    (["loop": loop.loop, "state": state], Double(count))
                }
            })
    }

    fileprivate mutating func addRequests(_ requests: RequestMeasurements, _ watching: (waits: Int, streams: Int)) {
        histogram(
            "fetchd_http_request_duration_seconds",
            "Requests to the API by class of route, from their head to the decision on the response.",
            RouteClass.allCases.map { (["route": $0.name], requests.durations(of: $0)) })
        counter(
            "fetchd_http_requests_total", "Requests to the API by class of route and class of status.",
            RouteClass.allCases.flatMap { route in
                StatusClass.allCases.map { status in
                    (["route": route.name, "code": status.name], Double(requests.count(of: route, status)))
                }
            })
        gauge(
            "fetchd_watchers", "Clients that wait for a change or read a stream of events.", by: "kind",
            [("wait", watching.waits), ("stream", watching.streams)])
    }

    /// The names are those of Prometheus' client libraries (prometheus.io/docs/instrumenting/writing_clientlibs).
    fileprivate mutating func addProcess(_ process: ProcessReading, version: String) {
        gauge("fetchd_build_info", "Always 1; the label has the version.", by: "version", [(version, 1)])
        if let seconds = process.cpuSeconds {
            counter("process_cpu_seconds_total", "User and system CPU time of the process.", [([:], seconds)])
        }
        gauge("process_resident_memory_bytes", "Resident memory of the process.", process.residentBytes)
        gauge("process_virtual_memory_bytes", "Virtual memory of the process.", process.virtualBytes)
        gauge("process_threads", "Threads of the process.", process.threads)
        gauge("process_open_fds", "Open file descriptors of the process.", process.openDescriptors)
        gauge("process_max_fds", "The largest number of open file descriptors.", process.mostDescriptors)
        gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", process.startTime)
    }
}

extension BatchSignal.Ending {
    fileprivate var name: String {
        switch self {
        case .succeeded: JobState.Kind.succeeded.rawValue
        case .failed: JobState.Kind.failed.rawValue
        case .cancelled: JobState.Kind.cancelled.rawValue
        }
    }
}

/// Metrics of one thread that runs transfers. The thread belongs to a layer that the API does not import; the
/// executable passes its metrics on.
public struct LoopMetrics: Sendable {
    public var loop: String
    /// The longest delay of the last minute, in seconds: how long a command, a timer or a socket waited for the thread.
    public var lag: TimeInterval
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

    mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) { add(name, help, type: "gauge", samples) }

    /// Adds nothing if the value is not known.
    mutating func gauge(_ name: String, _ help: String, _ value: Double?) {
        if let value { gauge(name, help, [([:], value)]) }
    }

    mutating func gauge(_ name: String, _ help: String, _ value: (some BinaryInteger)?) {
        gauge(name, help, value.map { Double($0) })
    }

    mutating func gauge(_ name: String, _ help: String, by label: String, _ values: [(String, some BinaryInteger)]) {
        gauge(name, help, values.map { ([label: $0], Double($1)) })
    }

    mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, help, type: "counter", samples)
    }

    mutating func counter(_ name: String, _ help: String, _ value: some BinaryInteger) {
        counter(name, help, [([:], Double(value))])
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
