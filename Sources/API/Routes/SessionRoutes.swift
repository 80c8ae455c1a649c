import Downloads
import Formats
import HTTPSemantics
import HTTPServer
import HTTPTypes
import Operations
import Storage

/// `/v1/sessions`: declares and changes sessions, reads their status, carries out actions on all of their jobs, and deletes them.
struct SessionRoutes: Sendable {
    let sessions: Sessions
    let feed: Feed
    let locations: LocationNames

    var routes: [Route] {
        [
            Route(.get, "/v1/sessions", .scope(.read, of: .selection), isLarge: true, list),
            Route(.put, "/v1/sessions/{session}", .scope(.sessions, of: .session), body: .optionalJSON, declare),
            Route(.get, "/v1/sessions/{session}", .scope(.read, of: .session), readsQuery: true, mayWait: true, show),
            Route(.patch, "/v1/sessions/{session}", .scope(.sessions, of: .session), body: .json, change),
            Route(.delete, "/v1/sessions/{session}", .scope(.sessions, of: .session), readsQuery: true, delete),
            Route(
                .post, "/v1/sessions/{session}/acknowledge", .scope(.sessions, of: .session), body: .json, acknowledge),
        ] + [.pause, .resume, .cancel].map(actionRoute)
    }

    private func actionRoute(_ action: JobSignal.Action) -> Route {
        let path = "/v1/sessions/{session}/\(action.rawValue)"
        return Route(.post, path, .scope(.sessions, of: .session), body: .optionalJSON) { context in
            let session = try context.name("session")
            return .json(try await sessions.perform(try JobRoutes.request(action, context), onAllOf: session).document)
        }
    }

    private func list(_ context: RequestContext) async throws -> Response {
        var list = DocumentList("sessions")
        var last = ""
        while true {
            let page = try await sessions.list(after: last, limit: Self.sessionsAtOnce)
            for status in page where context.caller.visible.contain(status.session.id) {
                try list.require(status.document, "Ask for each session by its name.")
            }
            guard page.count == Self.sessionsAtOnce else { return list.response() }
            last = page.last?.session.id.text ?? ""
            try Task.checkCancellation()
        }
    }

    private static let sessionsAtOnce = 100

    /// Declares a session. A body replaces the configuration; without a body, an existing session does not change.
    private func declare(_ context: RequestContext) async throws -> Response {
        let name = try context.name("session")
        let configuration = context.hasBody ? try context.body(SessionConfiguration.init(reading:)) : nil
        if let configuration { try requireUsable(configuration.location, for: context.caller) }
        let (status, isNew) = try await sessions.declare(
            name, configuration: configuration, expecting: try context.sessionExpectation(), audit: context.auditNote)
        return status.response(isNew ? .created : .ok)
    }

    private func change(_ context: RequestContext) async throws -> Response {
        let patch = try context.body { reader throws(Problem) in SessionPatch(reading: &reader) }
        return try await sessions.change(
            try context.name("session"), expecting: try context.expectedRevision(), audit: context.auditNote
        ) { present in
            let configuration = try patch.applied(to: present)
            if configuration.location != present.location {
                try requireUsable(configuration.location, for: context.caller)
            }
            return configuration
        }.response()
    }

    private func requireUsable(_ location: Name?, for caller: Caller) throws(Problem) {
        try locations.requireDeclared(location)
        try caller.requireAllowed(location ?? .default, at: LocationNames.pointer)
    }

    private func delete(_ context: RequestContext) async throws -> Response {
        let cancels = try context.query { query throws(Problem) in
            try query.choice("outstanding", of: OutstandingChoice.self) == .cancel
        }
        let status = try await sessions.delete(
            try context.name("session"), cancels: cancels, audit: context.auditNote)
        guard let status else { return .noContent }
        return .json(status.document, .accepted)
    }

    private enum OutstandingChoice: String, CaseIterable { case finish, cancel }

    private func acknowledge(_ context: RequestContext) async throws -> Response {
        let session = try context.name("session")
        let through = try context.body { reader throws(Problem) in
            try reader.eventNumber("through", "the number of the last event that you have processed")
        }
        return .json(
            try await Problem.naming({ _ in "/through" }) {
                try await sessions.acknowledge(session, through: through).document
            })
    }
}

/// `GET /v1/sessions/{session}`: returns the status of the session at once, or when no job is outstanding.
extension SessionRoutes {
    func show(_ context: RequestContext) async throws -> Response {
        let session = try context.name("session")
        let goal = try context.query { query throws(Problem) in try query.choice("until", of: Goal.self) }
        guard goal == .idle, let seconds = context.preferredWait, seconds > 0 else {
            return try await sessions.status(of: session).response()
        }
        var response = try await statusOnceIdle(session, within: .seconds(seconds)).response()
        response.headers[.preferenceApplied] = "wait=\(seconds)"
        return response
    }

    private enum Goal: String, CaseIterable { case idle }

    /// Reads the status only when as many jobs have ended as were outstanding at the last read: before, the session cannot be
    /// idle.
    private func statusOnceIdle(_ session: Name, within duration: Duration) async throws -> SessionStatus {
        let deadline = ContinuousClock.now + duration
        // The watcher is registered before the first read, so that no end is missed in between.
        let watcher = feed.watcher(of: [.journal(.session(session))])
        defer { feed.dismiss(watcher) }
        while true {
            // Before the read, which can also have later events. These count twice, which costs a read too many.
            var position = feed.lastEvent
            let status = try await sessions.status(of: session)
            var left = status.counts.reduce(0) { $0 + ($1.key.isOutstanding ? $1.value : 0) }
            guard left > 0 else { return status }
            while left > 0 {
                guard await feed.sleep(watcher, until: deadline) == .notified else {
                    return try await sessions.status(of: session)
                }
                guard let endings = feed.endings(of: session, after: &position) else { break }
                left -= endings
            }
        }
    }
}

extension Feed {
    /// The number of jobs of a session that have ended after a position, which moves to the last event.
    fileprivate func endings(of session: Name, after position: inout EventID) -> Int? {
        guard let page = page(EventQuery(after: position, session: session, limit: .max)) else { return nil }
        position = page.nextAfter
        return page.events.count { [.jobSucceeded, .jobFailed, .jobCancelled].contains($0.type) }
    }
}

extension SessionStatus {
    var document: JSON {
        [
            "id": .string(session.id.text), "state": .string(state.rawValue),
            "configuration": session.configuration.document,
            "counts": .object(
                JobState.Kind.allCases.reduce(into: JSONObject()) { $0[$1.rawValue] = .count(counts[$1] ?? 0) }),
            "progress": ["bytes_received": .integer(bytesReceived), "bytes_expected": .optional(bytesExpected)],
            "batch": .count(batch), "finish_due_at": .optional(finishDueAt), "last_event": .integer(lastEvent),
            "acknowledged_through": .integer(acknowledgedThrough),
            "unacknowledged_since": .optional(unacknowledgedSince), "created_at": .time(session.createdAt),
        ]
    }

    func response(_ status: HTTPResponse.Status = .ok) -> Response {
        let document = document
        return .json(document, status, headers: [.eTag: JobETag(session, in: document.line).text])
    }
}

extension SessionConfiguration {
    var document: JSON {
        let retry = retry ?? RetryPolicy()
        return [
            "headers": .object(
                headers.reduce(into: JSONObject()) { $0[$1.name] = .string($1.redacted.value) }),
            "user_agent": .string(userAgent ?? Self.defaultUserAgent),
            "timeouts": [
                "request_seconds": .optional(timeouts.requestSeconds ?? Timeouts.defaults.requestSeconds),
                "connect_seconds": .optional(timeouts.connectSeconds ?? Timeouts.defaults.connectSeconds),
                "resource_seconds": .optional(timeouts.resourceSeconds ?? Timeouts.defaults.resourceSeconds),
            ],
            "minimum_bytes_per_second": .optional(minimumSpeed),
            "max_concurrent_jobs": .optional(maxConcurrentJobs),
            "max_connections_per_host": .optional(maxConnectionsPerHost),
            "hosts": .array(hostRules.rules.map(\.json)),
            "rate_limit_bytes_per_second": .optional(rateLimit), "max_total_size": .optional(maxTotalSize),
            "retry": [
                "max_attempts": .count(retry.maxAttempts), "base_seconds": .number(retry.baseSeconds),
                "max_seconds": .number(retry.maxSeconds),
            ],
            "tls": tls.document, "proxy": .optional(proxy?.url),
            "destination": ["location": .string((location ?? .default).text)],
            "directory": .string(directory ?? ""), "on_conflict": .string((onConflict ?? .rename).rawValue),
            "wait_for": .strings((waitFor ?? WaitFor.defaults).map(\.rawValue)),
            "digest": .string((digest ?? .sha256).rawValue), "decode": .bool(decodes ?? false),
            "resume_policy": .string((resumePolicy ?? .strict).rawValue),
            "priority": .string((priority ?? .normal).rawValue),
            "finish_delay_seconds": .number(finishDelaySeconds ?? Self.defaultFinishDelaySeconds),
            "acknowledgement": .optional(acknowledgement?.rawValue),
            "resume_data_ttl_seconds": .number(resumeDataTTL ?? Self.defaultResumeDataTTL),
            "connections": .count(connections ?? 1), "metadata": metadata.json,
        ]
    }
}

extension TLSRule {
    var document: JSON {
        [
            "ca_file": .optional(caFile),
            "pinned_public_keys": pinnedPublicKeys.document,
            "verify": .bool(verify),
        ]
    }
}
