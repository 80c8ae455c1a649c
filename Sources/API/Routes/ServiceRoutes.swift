import Configuration
import Downloads
import Formats
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
            Route(
                .patch, "/v1/service", .scope(.sessions, of: .service), body: .required(limit: JSONBody.limit), change),
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
        for name in SettingName.allCases {
            let isVisible = caller.isAdministrator || !name.isAdministrative
            document[name.rawValue] = isVisible ? effective.settings[name] : .null
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
