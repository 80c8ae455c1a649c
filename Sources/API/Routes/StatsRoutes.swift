import Downloads
import Engine
import Formats
import Foundation
import HTTPServer
import Storage

/// `/v1/stats` and `/v1/throughput`: the state of the whole service, and the bytes that it has received lately.
struct StatsRoutes: Sendable {
    let store: Store
    let engine: Engine
    let feed: Feed
    let version: String
    private let time: any TimeSource
    private let startedAt: Date
    private let start: Duration

    init(store: Store, engine: Engine, feed: Feed, version: String, time: any TimeSource) {
        (self.store, self.engine, self.feed, self.version, self.time) = (store, engine, feed, version, time)
        // Uses the wall clock directly: after a jump, `time` follows the wall clock only with the first commit.
        (startedAt, start) = (SystemTime().now, time.uptime)
    }

    var routes: [Route] {
        [
            Route(.get, "/v1/stats", .scope(.read, of: .service), show),
            Route(.get, "/v1/throughput", .scope(.read, of: .service), isLarge: true, throughput),
        ]
    }

    private func throughput(_ context: RequestContext) async throws -> Response {
        let history = try await store.throughput()
        return .json([
            "ends_at": .time(history.end), "hour": history.hour.document, "week": history.week.document,
        ])
    }

    private func show(_ context: RequestContext) async throws -> Response {
        let (census, load, watching) = (try await store.statistics(), await engine.load(since: start), feed.watching)
        return .json([
            "version": .string(version), "started_at": .time(startedAt),
            "uptime_seconds": .number((time.uptime - start).seconds),
            "jobs": .object(
                JobState.Name.allCases.reduce(into: JSONObject()) { $0[$1.rawValue] = .count(census.jobs[$1] ?? 0) }),
            "sessions": .count(census.sessions), "last_event": .integer(census.lastEvent),
            "deliveries_pending": .count(census.pendingDeliveries),
            "finishes_unacknowledged": .count(census.unacknowledgedFinishes),
            "bytes_per_second": .integer(load.bytesPerSecond),
            "bytes_received": .integer(load.bytesReceived),
            "throughput": [
                "interval_seconds": .count(load.throughputInterval),
                "bytes_per_second": .array(load.throughput.map(JSON.integer)),
            ],
            "slots": ["used": .count(load.slotsUsed), "max": .count(load.slots)],
            "disk": load.disk?.document ?? .null,
            "watchers": ["waits": .count(watching.waits), "streams": .count(watching.streams)],
        ])
    }
}

extension ThroughputRecord.Series {
    fileprivate var document: JSON {
        ["interval_seconds": .count(interval * 60), "bytes_per_second": .array(rates.map(JSON.integer))]
    }
}

extension DiskSpace {
    fileprivate var document: JSON { ["free_bytes": .integer(free), "total_bytes": .integer(total)] }
}
