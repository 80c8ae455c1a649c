import Configuration
import Downloads
import Engine
import Formats
import Foundation
import HTTPServer
import Logging
import Storage

/// `/v1/service`: the settings that can change while the service runs.
struct ServiceRoutes: Sendable {
    let store: Store
    let configuration: ServiceConfiguration
    let log: Logger

    var routes: [Route] {
        [
            Route(.get, "/v1/service", .scope(.read, of: .service), show),
            Route(.patch, "/v1/service", .scope(.sessions, of: .service), body: .json, change),
        ]
    }

    private func show(_ context: RequestContext) async throws -> Response { .json(document(for: context.caller)) }

    private func change(_ context: RequestContext) async throws -> Response {
        let patch = try context.body { reader throws(Problem) in try SettingsPatch(reading: &reader, of: context.caller)
        }
        let note = context.auditNote
        for change in try await configuration.change(patch, in: store, audit: note) {
            let caller = note.name?.text ?? note.caller ?? "A caller without a token"
            log.notice(
                "\(caller) at \(note.address) has changed \(change.name): \(change)", metadata: context.logFields)
        }
        return .json(document(for: context.caller))
    }

    private func document(for caller: Caller) -> JSON {
        let effective = configuration.effective
        var (document, sources) = (JSONObject(), JSONObject())
        for setting in Setting.running {
            let name = setting.name
            let isVisible = caller.isAdministrator || setting.change == .callers
            document[name.rawValue] = isVisible ? setting.value(in: effective.settings) : .null
            sources[name.rawValue] = .string(configuration.source(of: name).rawValue)
        }
        document["effective"] = effective.document
        document["sources"] = .object(sources)
        return .object(document)
    }
}

extension EffectiveSettings {
    fileprivate var document: JSON {
        [
            SettingName.rateLimit.rawValue: .integer(rateLimit ?? 0),
            SettingName.maxConcurrentJobs.rawValue: .count(maxConcurrentJobs), "until": .optional(until),
        ]
    }
}

/// Reads a change of settings from the request of a client.
extension SettingsPatch {
    /// - Throws: 403 if only administrators may change one of the settings.
    init(reading reader: inout FieldReader, of caller: Caller) throws(Problem) {
        var values: [(name: SettingName, value: JSON?)] = []
        for member in reader.object.members {
            let name = SettingName(rawValue: member.name)
            guard let setting = Setting[name], setting.isRunning else { continue }
            if setting.change == .administrators {
                do throws(Problem) {
                    try caller.require(.admin, of: .service)
                } catch {
                    var problem = error
                    problem.pointer = reader.pointer(to: member.name)
                    throw problem
                }
            }
            values.append((name, reader.value(member.name)))
        }
        do throws(SettingFault) {
            try self.init(values)
        } catch {
            throw reader.invalid(error.name.rawValue, error.why)
        }
    }
}

/// `/v1/stats` and `/v1/throughput`: the state of the whole service, and the bytes that it has received lately.
struct StatsRoutes: Sendable {
    let store: Store
    let engine: Engine
    let feed: Feed
    let version: String
    private let time: any TimeSource
    private let startedAt: Date
    private let start: Duration

    init(store: Store, engine: Engine, feed: Feed, version: String) {
        self.store = store
        self.engine = engine
        self.feed = feed
        self.version = version
        time = store.time
        // Uses the wall clock directly: after a jump, `time` follows the wall clock only with the first commit.
        startedAt = SystemTime().now
        start = time.uptime
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

/// `/v1/nodes`: the services that share the database. A service with a database of its own is its only node.
struct NodeRoutes: Sendable {
    let store: Store
    let engine: Engine
    let version: String
    private let startedAt: Date

    init(store: Store, engine: Engine, version: String) {
        self.store = store
        self.engine = engine
        self.version = version
        // As in `StatsRoutes`.
        startedAt = SystemTime().now
    }

    var routes: [Route] {
        [
            Route(.get, "/v1/nodes", .scope(.read, of: .service), list),
            Route(.delete, "/v1/nodes/{number}", .scope(.admin, of: .service), forget),
        ]
    }

    private func forget(_ context: RequestContext) async throws -> Response {
        let text = context.parameter("number")
        guard let number = Int64(text) else { throw Problem(.notFound, "'\(text)' is not the number of a node.") }
        try await store.forgetNode(number, audit: context.auditNote)
        return .noContent
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let nodes = try await store.nodes()
        guard let own = store.node else { return .json(["nodes": [try await single()]]) }
        return .json(["nodes": .array(nodes.map { $0.document(isSelf: $0.node.number == own.number) })])
    }

    private func single() async throws -> JSON {
        let (census, load) = (try await store.statistics(), await engine.load(since: .zero))
        return [
            "id": nil, "number": 1, "epoch": 1, "state": "running", "url": nil, "version": .string(version),
            "downloads": "local",
            "started_at": .time(startedAt), "lease_expires_in_seconds": nil, "is_self": true, "is_leader": true,
            "is_draining": false, "slots": .count(load.slots), "running": .count(census.jobs[.running] ?? 0),
        ]
    }
}

extension NodeStatus {
    fileprivate func document(isSelf: Bool) -> JSON {
        [
            "id": .string(id), "number": .integer(node.number), "epoch": .integer(node.epoch),
            "state": .string(state.rawValue), "url": .optional(url),
            "version": .string(version), "downloads": sharesDownloads ? "shared" : "local",
            "started_at": .time(startedAt), "lease_expires_in_seconds": .optional(leaseSeconds),
            "is_self": .bool(isSelf), "is_leader": .bool(isLeader), "is_draining": .bool(isDraining),
            "slots": .count(slots), "running": .count(running),
        ]
    }
}
