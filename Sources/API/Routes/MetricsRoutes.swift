import Downloads
import Foundation
import HTTPServer
import HTTPTypes
import Storage

/// `/metrics`: counts and metrics in the Prometheus text format, read at each request.
struct MetricsRoutes: Sendable {
    let store: Store
    /// Seconds after which the metrics name the session of an unacknowledged finish.
    let acknowledgementPatience: TimeInterval
    /// Returns the metrics of the transfer loops.
    let loops: @Sendable () -> [LoopMetrics]
    let time: any TimeSource

    var routes: [Route] { [Route(.get, "/metrics", .scope(.read, of: .service), metrics)] }

    private func metrics(_ context: RequestContext) async throws -> Response {
        var exposition = Exposition()
        let census = try await store.statistics()
        exposition.gauge("fetchd_jobs", "Jobs by state.") {
            JobState.Name.allCases.map { (["state": $0.rawValue], Double(census.jobs[$0] ?? 0)) }
        }
        exposition.gauge("fetchd_sessions", "Sessions, including deleted sessions that are not settled yet.") {
            [([:], Double(census.sessions))]
        }
        exposition.gauge("fetchd_webhooks", "Webhooks by state.") {
            Webhook.State.Name.allCases.map { (["state": $0.rawValue], Double(census.webhooks[$0] ?? 0)) }
        }
        exposition.gauge("fetchd_deliveries", "Deliveries in the journal, by state.") {
            Delivery.State.Name.allCases.map { state in
                let count = state == .pending ? census.pendingDeliveries : census.settledDeliveries[state] ?? 0
                return (["state": state.rawValue], Double(count))
            }
        }
        exposition.counter("fetchd_events_total", "Events that were ever appended to the journal.") {
            [([:], Double(census.lastEvent))]
        }
        addActivity(store.activity, in: &exposition)
        addUnacknowledged(census, try await store.unacknowledgedFinishes(), in: &exposition)
        addLoops(loops(), in: &exposition)
        return Response(
            status: .ok, headers: [.contentType: Exposition.contentType], body: .bytes(Array(exposition.text.utf8)))
    }

    private func addActivity(_ activity: DatabaseActivity, in exposition: inout Exposition) {
        exposition.counter("fetchd_database_statements_total", "SQL statements run since the service started.") {
            [([:], Double(activity.statements))]
        }
        exposition.counter(
            "fetchd_database_commits_total", "Database commits since the service started, each synced to the disk."
        ) {
            [([:], Double(activity.commits))]
        }
    }

    private func addUnacknowledged(
        _ census: StoreStatistics, _ finishes: [UnacknowledgedFinish], in exposition: inout Exposition
    ) {
        let ages = finishes.map { ($0.session.text, time.now.timeIntervalSince($0.agingSince)) }
        exposition.gauge("fetchd_finishes_unacknowledged", "Finished batches without an acknowledgement.") {
            [([:], Double(census.unacknowledgedFinishes))]
        }
        exposition.gauge(
            "fetchd_finish_unacknowledged_seconds",
            "Age of the oldest unacknowledged finish of a session, if it exceeds --acknowledgement-patience."
        ) {
            ages.filter { $0.1 >= acknowledgementPatience }.map { (["session": $0.0], $0.1) }
        }
    }

    private func addLoops(_ loops: [LoopMetrics], in exposition: inout Exposition) {
        exposition.gauge(
            "fetchd_transfer_loop_lag_seconds",
            "The longest that anything had to wait for the thread of all transfers within the last minute."
        ) {
            loops.map { (["loop": $0.loop], $0.lag) }
        }
        exposition.histogram(
            "fetchd_transfer_loop_turn_seconds", "Durations of the turns of the thread of all transfers.",
            loops.map { (["loop": $0.loop], $0.turns) })
        exposition.gauge("fetchd_name_lookups", "Name lookups by state: running or queued.") {
            loops.flatMap { loop in
                [("running", loop.lookups.running), ("queued", loop.lookups.queued)].map { state, count in
                    (["loop": loop.loop, "state": state], Double(count))
                }
            }
        }
    }
}
