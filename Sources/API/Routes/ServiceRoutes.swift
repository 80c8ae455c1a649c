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
    /// The uptime of the clock at the start of the service.
    let start: Duration
    // Uses the wall clock directly: after a jump, the time of the store follows the wall clock only with the first commit.
    private let startedAt = SystemTime().now

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
            "uptime_seconds": .number((store.time.uptime - start).seconds),
            "jobs": .object(
                JobState.Kind.allCases.reduce(into: JSONObject()) { $0[$1.rawValue] = .count(census.jobs[$1] ?? 0) }),
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
