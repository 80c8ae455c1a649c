import Base
import Downloads
import Engine
import Foundation
import Storage

/// What is there, and what waits.
extension Exposition {
    mutating func addCounts(_ census: StoreStatistics, _ backlog: StoreBacklog, at now: Date) {
        gauge("fetchd_jobs", "Jobs by state.") {
            JobState.Name.allCases.map { (["state": $0.rawValue], Double(census.jobs[$0] ?? 0)) }
        }
        gauge(
            "fetchd_queue_oldest_age_seconds",
            "Seconds since the creation of the oldest queued job that no not_before holds; 0 without one.",
            Self.age(of: backlog.oldestQueued, at: now))
        gauge("fetchd_sessions", "Sessions, including deleted sessions that are not settled yet.", census.sessions)
        gauge("fetchd_webhooks", "Webhooks by state.") {
            Webhook.State.Name.allCases.map { (["state": $0.rawValue], Double(census.webhooks[$0] ?? 0)) }
        }
        gauge("fetchd_deliveries", "Deliveries in the journal, by state.") {
            Delivery.State.Name.allCases.map { state in
                let count = state == .pending ? census.pendingDeliveries : census.settledDeliveries[state] ?? 0
                return (["state": state.rawValue], Double(count))
            }
        }
        gauge(
            "fetchd_outbox_oldest_age_seconds",
            "Seconds since the oldest event with a pending delivery; 0 without one.",
            Self.age(of: backlog.oldestDelivery, at: now))
        counter("fetchd_events_total", "Events that were ever appended to the journal.") {
            [([:], Double(census.lastEvent))]
        }
        gauge("fetchd_parts", "Jobs with bytes that are not a finished file.", backlog.parts)
        gauge("fetchd_parts_bytes", "Durable bytes of these jobs.", Double(backlog.partBytes))
    }

    mutating func addUnacknowledged(
        _ census: StoreStatistics, _ finishes: [UnacknowledgedFinish], patience: TimeInterval, at now: Date
    ) {
        let ages = finishes.map { max(0, now.timeIntervalSince($0.agingSince)) }
        gauge(
            "fetchd_finishes_unacknowledged", "Finished batches whose acknowledgement is expected and missing.",
            census.unacknowledgedFinishes)
        gauge(
            "fetchd_sessions_unacknowledged",
            "Sessions with a finish that is unacknowledged for longer than --acknowledgement-patience.",
            ages.count { $0 >= patience })
        gauge(
            "fetchd_finishes_unacknowledged_oldest_age_seconds",
            "Age of the oldest unacknowledged finish; 0 without one.",
            ages.max() ?? 0)
    }

    /// Seconds. After a jump of the clock, a time can lie ahead.
    private static func age(of time: Date?, at now: Date) -> Double {
        time.map { max(0, now.timeIntervalSince($0)) } ?? 0
    }
}

/// Transfers and posts to webhooks.
extension Exposition {
    mutating func addTransfers(_ load: EngineLoad, _ engine: EngineMeasurements, _ store: StoreMeasurements) {
        counter("fetchd_received_bytes_total", "Bytes of bodies that all downloads have received.") {
            [([:], Double(load.bytesReceived))]
        }
        gauge("fetchd_running_attempts", "Attempts that run now.", load.slotsUsed)
        gauge("fetchd_max_running_attempts", "The largest number of attempts that may run at once.", load.slots)
        histogram(
            "fetchd_job_duration_seconds", "From the creation of a job to its end, by the state in which it ended.",
            store.jobs.snapshot.map { (["state": $0.label.name], $0.histogram) })
        histogram(
            "fetchd_attempt_duration_seconds", "From the start of an attempt to its end, by its result.",
            engine.attempts.snapshot.map { (["result": $0.label.rawValue], $0.histogram) })
        counter("fetchd_attempt_failures_total", "Failed attempts by the code of their failure.") {
            engine.failures.snapshot.map { (["code": $0.label.rawValue], Double($0.count)) }
        }
        histogram(
            "fetchd_sync_duration_seconds", "Syncs of parts of downloads to the disk, one or several parts at once.",
            [([:], engine.syncs.snapshot)])
        guard let disk = load.disk else { return }
        gauge("fetchd_downloads_free_bytes", "Free space of the file system of the downloads.", Double(disk.free))
        gauge("fetchd_downloads_size_bytes", "Size of the file system of the downloads.", Double(disk.total))
    }

    mutating func addWebhooks(_ posts: [(result: String, durations: Histogram)]) {
        histogram(
            "fetchd_webhook_duration_seconds",
            "Posts to webhooks by their result: accepted (2xx), rejected (another status), unanswered.",
            posts.map { (["result": $0.result], $0.durations) })
    }
}

extension BatchSignal.Ending {
    fileprivate var name: String {
        switch self {
        case .succeeded: JobState.Name.succeeded.rawValue
        case .failed: JobState.Name.failed.rawValue
        case .cancelled: JobState.Name.cancelled.rawValue
        }
    }
}

/// The service and its process.
extension Exposition {
    mutating func addDatabase(_ activity: DatabaseActivity, _ store: StoreMeasurements, _ files: StoreFiles) {
        counter("fetchd_database_statements_total", "SQL statements run since the service started.") {
            [([:], Double(activity.statements))]
        }
        counter(
            "fetchd_database_commits_total", "Database commits since the service started, each synced to the disk."
        ) {
            [([:], Double(activity.commits))]
        }
        histogram(
            "fetchd_database_commit_duration_seconds",
            "Database commits, from their first statement to the end of their sync.", [([:], store.commits.snapshot)])
        gauge("fetchd_database_size_bytes", "Size of the database and of its write-ahead log.") {
            [(["file": "database"], Double(files.database)), (["file": "log"], Double(files.log))]
        }
        guard let free = files.free, let total = files.total else { return }
        gauge("fetchd_data_free_bytes", "Free space of the file system of the database.", Double(free))
        gauge("fetchd_data_size_bytes", "Size of the file system of the database.", Double(total))
    }

    mutating func addLoops(_ loops: [LoopMetrics]) {
        gauge(
            "fetchd_transfer_loop_lag_seconds",
            "The longest that anything had to wait for the thread of all transfers within the last minute."
        ) {
            loops.map { (["loop": $0.loop], $0.lag) }
        }
        histogram(
            "fetchd_transfer_loop_turn_seconds", "Durations of the turns of the thread of all transfers.",
            loops.map { (["loop": $0.loop], $0.turns) })
        gauge("fetchd_name_lookups", "Name lookups by state: running or queued.") {
            loops.flatMap { loop in
                [("running", loop.lookups.running), ("queued", loop.lookups.queued)].map { state, count in
                    (["loop": loop.loop, "state": state], Double(count))
                }
            }
        }
    }

    mutating func addRequests(_ requests: RequestMeasurements, _ watching: (waits: Int, streams: Int)) {
        histogram(
            "fetchd_http_request_duration_seconds",
            "Requests to the API by class of route, from their head to the decision on the response.",
            RouteClass.allCases.map { (["route": $0.name], requests.durations(of: $0)) })
        counter("fetchd_http_requests_total", "Requests to the API by class of route and class of status.") {
            RouteClass.allCases.flatMap { route in
                StatusClass.allCases.map { status in
                    (["route": route.name, "code": status.name], Double(requests.count(of: route, status)))
                }
            }
        }
        gauge("fetchd_watchers", "Clients that wait for a change or read a stream of events.") {
            [(["kind": "wait"], Double(watching.waits)), (["kind": "stream"], Double(watching.streams))]
        }
    }

    /// - Parameter nodes: empty if the service has a database of its own.
    mutating func addNodes(_ nodes: [NodeStatus]) {
        gauge(
            "fetchd_nodes",
            "Nodes that share the database by state: running, draining, away (the lease has ended) or stopped."
        ) {
            NodeStatus.State.allCases.map { state in
                let count = nodes.isEmpty ? (state == .running ? 1 : 0) : nodes.count { $0.state == state }
                return (["state": state.rawValue], Double(count))
            }
        }
    }

    /// - Parameter seconds: until the lease of this node ends; nil if the service has a database of its own.
    mutating func addLease(isLeader: Bool, seconds: Double?) {
        gauge("fetchd_node_is_leader", "1 if this node does what one node does for all; 0 if not.") {
            [([:], isLeader ? 1 : 0)]
        }
        gauge(
            "fetchd_node_lease_seconds",
            "Seconds until the lease of this node in a PostgreSQL database ends, unless it is renewed."
        ) {
            seconds.map { [([:], $0)] } ?? []
        }
    }

    mutating func addHealth(database: Bool, folder: Bool) {
        gauge("fetchd_healthy", "1 if fetchd can use the database, and the folder of the downloads; 0 if not.") {
            [(["part": "database"], database ? 1 : 0), (["part": "downloads_folder"], folder ? 1 : 0)]
        }
    }

    /// The names are those of Prometheus' client libraries (prometheus.io/docs/instrumenting/writing_clientlibs).
    mutating func addProcess(_ process: ProcessReading, version: String) {
        gauge("fetchd_build_info", "Always 1; the label has the version.") { [(["version": version], 1)] }
        if let seconds = process.cpuSeconds {
            counter("process_cpu_seconds_total", "User and system CPU time of the process.") { [([:], seconds)] }
        }
        gauge("process_resident_memory_bytes", "Resident memory of the process.", process.residentBytes)
        gauge("process_virtual_memory_bytes", "Virtual memory of the process.", process.virtualBytes)
        gauge("process_threads", "Threads of the process.", process.threads)
        gauge("process_open_fds", "Open file descriptors of the process.", process.openDescriptors)
        gauge("process_max_fds", "The largest number of open file descriptors.", process.mostDescriptors)
        gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", process.startTime)
    }
}
