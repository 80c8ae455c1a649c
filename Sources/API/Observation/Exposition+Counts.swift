import Downloads
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
