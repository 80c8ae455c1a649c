import Downloads
import Engine
import Storage

/// The sessions of the service, for its interfaces. See `Jobs`.
public struct Sessions: Sendable {
    private let store: Store
    private let engine: Engine

    public init(store: Store, engine: Engine) {
        self.store = store
        self.engine = engine
    }

    /// - Throws: `noSuchSession`.
    public func status(of session: Name) async throws(StoreError) -> SessionStatus { try await store.session(session) }

    /// The next sessions by name.
    public func list(after name: String, limit: Int) async throws(StoreError) -> [SessionStatus] {
        try await store.sessions(after: name, limit: limit)
    }

    /// Declares a session. A configuration replaces the present one; without it, an existing session does not change.
    public func declare(
        _ session: Name, configuration: SessionConfiguration?, expecting expectation: SessionExpectation = .nothing,
        audit note: AuditNote? = nil
    ) async throws -> (status: SessionStatus, isNew: Bool) {
        try await engine.declareSession(session, configuration: configuration, expecting: expectation, audit: note)
    }

    /// Changes the configuration of a session, again if another request changes the session meanwhile.
    ///
    /// - Parameters:
    ///   - revision: if given, the revision that the session must have.
    ///   - change: makes the new configuration from the present one.
    /// - Throws: `noSuchSession`, `sessionChanged`, and the errors of `change`.
    public func change(
        _ session: Name, expecting revision: Int? = nil, audit note: AuditNote?,
        _ change: (SessionConfiguration) throws -> SessionConfiguration
    ) async throws -> SessionStatus {
        try await engine.changeSession(session, expecting: revision, audit: note, change)
    }

    /// Carries out an action on all jobs of a session.
    public func perform(_ signal: JobSignal, onAllOf session: Name) async throws -> SessionStatus {
        try await engine.perform(signal, onAllOf: session)
    }

    /// Deletes a session when its jobs and deliveries are settled.
    ///
    /// - Parameter cancels: whether its outstanding jobs are cancelled.
    /// - Returns: nil if the session is deleted already.
    public func delete(_ session: Name, cancels: Bool, audit note: AuditNote?) async throws -> SessionStatus? {
        try await engine.invalidate(session, cancels: cancels, audit: note)
    }

    /// Notes that a client has processed the events of a session.
    ///
    /// - Throws: `noSuchSession`, `noSuchEvent`.
    public func acknowledge(_ session: Name, through event: EventID) async throws -> SessionStatus {
        try await engine.acknowledge(session, through: event)
    }
}
