import Base
import Downloads
import Storage

extension Engine {
    /// Declares a session, or re-attaches to it. Running attempts keep the configuration that they began with, except
    /// the session's shared rate limit.
    ///
    /// - Parameter configuration: replaces the existing configuration; nil changes nothing.
    public func declareSession(
        _ id: Name, configuration: SessionConfiguration?, expecting expectation: SessionExpectation = .nothing,
        audit note: AuditNote? = nil
    ) async throws -> (status: SessionStatus, isNew: Bool) {
        if let configuration { warn(of: configuration, in: id) }
        return try await services.store.declareSession(
            id, configuration: configuration, expecting: expectation, audit: note
        ) { [active] in
            if let configuration { active.limit(id, to: configuration.rateLimit) }
        }
    }

    /// Changes the configuration of a session, with the same effect on running attempts. Does it again if another request
    /// changes the session meanwhile.
    ///
    /// - Throws: `StoreError.noSuchSession`, `sessionChanged`, `placeholderUnknown`, and the errors of `change`.
    public func changeSession(
        _ id: Name, expecting revision: Int? = nil, audit note: AuditNote?,
        _ change: (SessionConfiguration) throws -> SessionConfiguration
    ) async throws -> SessionStatus {
        while true {
            let session = try await services.store.session(id).session
            if let revision, revision != session.revision { throw StoreError.sessionChanged(id, now: session.revision) }
            let configuration = try change(session.configuration)
            if configuration.tls != session.configuration.tls { warn(of: configuration, in: id) }
            let status = try await services.store.changeSession(session, to: configuration, audit: note) { [active] in
                active.limit(id, to: configuration.rateLimit)
            }
            if let status { return status }
        }
    }

    /// Records that a client has processed the events of a session.
    ///
    /// - Throws: `StoreError.noSuchSession`, `noSuchEvent`.
    public func acknowledge(_ session: Name, through event: EventID) async throws -> SessionStatus {
        try await services.store.acknowledge(session, through: event)
        return try await services.store.session(session)
    }

    private func warn(of configuration: SessionConfiguration, in session: Name) {
        guard !configuration.tls.verify else { return }
        services.log.warning(
            "Session \(session) does not verify certificates: an attacker on the network path can change its files.")
    }

    /// Carries out an action on every job of the session that allows it. Returns after the action has taken effect for
    /// all of them: running jobs are stopped and their bytes are synced.
    ///
    /// - Returns: the status of the session after the action, also if nothing is left in the session and it is removed
    ///   next.
    /// - Throws: `StoreError.noSuchSession`.
    public func perform(_ request: JobSignal, onAllOf session: Name) async throws -> SessionStatus {
        try await holding(session) {
            let before = try await services.store.session(session)
            let hosts = request.asksForRequest ? try await services.store.hostsToResume(in: session) : []
            try await sweep(request, session)
            services.gates.probe(Set(hosts))
            // Another process that closes sessions does not know of the hold.
            do { return try await services.store.session(session) } catch StoreError.noSuchSession { return before }
        }
    }

    /// Keeps the session from being removed until `body` has returned.
    func holding<Value>(_ session: Name, _ body: () async throws -> Value) async rethrows -> Value {
        services.sessionHolds.acquire(session)
        defer {
            services.sessionHolds.release(session)
            services.store.work(.sessions).set()
        }
        return try await body()
    }

    private func sweep(_ request: JobSignal, _ session: Name) async throws {
        var stopping: [JobID] = []
        try await services.store.apply(request, toJobsOf: session) { [active] outcomes in
            for outcome in outcomes { active.requestStop(asDecided: outcome) }
        } afterStep: { outcomes in
            var parts: [PartID] = []
            for outcome in outcomes {
                guard case .done(let job, let effects, let dropped) = outcome else { continue }
                if let dropped { parts.append(dropped) }
                if effects.contains(where: \.isStop) { stopping.append(job.id) }
            }
            await services.removeParts(parts)
        }
        // All of these jobs got a stop before. Each gets the action once more, because it may have ended in another way
        // meanwhile.
        for job in stopping {
            do { _ = try await perform(request, on: job) } catch StoreError.noSuchJob { continue }
        }
    }

    /// Stops a session from accepting jobs. The session is removed when its last job and delivery are settled.
    ///
    /// - Returns: the status of the session; nil when nothing was outstanding and the session is removed.
    /// - Throws: `StoreError.noSuchSession`, `sessionPermanent`.
    public func invalidate(_ session: Name, cancels: Bool, audit note: AuditNote? = nil) async throws -> SessionStatus?
    {
        try await services.store.invalidateSession(session, audit: note)
        do {
            if cancels {
                try await holding(session) { try await sweep(.cancelRequested(keepsPart: false), session) }
            }
        } catch StoreError.noSuchSession {
            // Its last job or delivery was settled meanwhile, and `closeSessions` has removed it.
        }
        try await services.closeSessions()
        do { return try await services.store.session(session) } catch StoreError.noSuchSession { return nil }
    }
}

/// Counts the running actions on each session. A deleted session is kept while it is held: the action that settles the
/// session reads it once more for its answer.
final class SessionHolds: Sendable {
    private let counts = Locked<[Name: Int]>([:])

    var sessions: Set<Name> { counts.withLock { Set($0.keys) } }

    func acquire(_ session: Name) { counts.withLock { $0[session, default: 0] += 1 } }

    func release(_ session: Name) {
        counts.withLock { counts in
            counts[session, default: 0] -= 1
            if counts[session] == 0 { counts[session] = nil }
        }
    }
}
