import Downloads

/// What a client expects of the session that it changes.
public enum SessionExpectation: Sendable, Equatable {
    case nothing
    /// The session exists.
    case existence
    case revision(Int)
}

/// Declares sessions and reads their status.
extension Store {
    /// Creates a session, or returns the existing one.
    ///
    /// - Parameters:
    ///   - configuration: replaces the configuration of an existing session; nil changes nothing.
    ///   - expectation: what the client expects of the session.
    ///   - onCommit: see `Writer.write`.
    /// - Throws: `placeholderUnknown`, `sessionChanged`.
    public func declareSession(
        _ id: Name, configuration: SessionConfiguration?, expecting expectation: SessionExpectation = .nothing,
        audit note: AuditNote? = nil, onCommit: @escaping @Sendable () -> Void = {}
    ) async throws -> (status: SessionStatus, isNew: Bool) {
        let isNew = try await writer.write(onCommit: { _ in onCommit() }) {
            try $0.declareSession(id, configuration, expecting: expectation, audit: note)
        }
        return (try await session(id), isNew)
    }

    /// Replaces the configuration of a session, if it is still the one that the client's change was applied to.
    ///
    /// - Parameter onCommit: is not called when nothing is changed; see `Writer.write`.
    /// - Returns: nil when another request has changed the session since; nothing is changed then.
    /// - Throws: `noSuchSession`, `placeholderUnknown`.
    public func changeSession(
        _ before: Session, to configuration: SessionConfiguration, audit note: AuditNote? = nil,
        onCommit: @escaping @Sendable () -> Void = {}
    ) async throws -> SessionStatus? {
        let isDone = try await writer.write(onCommit: { isDone in if isDone { onCommit() } }) { transaction in
            let session = try transaction.session(before.id)
            guard session.revision == before.revision, session.configuration == before.configuration else {
                return false
            }
            try transaction.change(session, to: configuration, audit: note)
            return true
        }
        return isDone ? try await session(before.id) : nil
    }

    /// Reads the configurations of sessions in commit order, so that no earlier admission takes effect after it with a
    /// former configuration. Sessions that do not exist any more are left out.
    ///
    /// - Parameters:
    ///   - sessions: called on the writer's thread, after the hooks of all earlier commits.
    ///   - onCommit: see `Writer.write`.
    public func takeConfigurations(
        of sessions: @escaping @Sendable () -> [Name],
        onCommit: @escaping @Sendable ([Name: SessionConfiguration]) -> Void
    ) async throws {
        _ = try await writer.write(onCommit: onCommit) { try $0.configurations(of: sessions()) }
    }

    /// - Throws: `noSuchSession`.
    public func session(_ id: Name) async throws(StoreError) -> SessionStatus {
        let status = try await read { [sealer] db in
            try db.row("SELECT * FROM sessions WHERE id = ?", [id.text])
                .map { try SessionRow.status($0, in: db, sealer) }
        }
        guard let status else { throw .noSuchSession(id) }
        return status
    }

    /// All sessions, ordered by name.
    public func sessions() async throws(StoreError) -> [SessionStatus] { try await sessions(after: "", limit: .max) }

    /// The sessions after a name, ordered by name.
    ///
    /// - Parameter name: empty for the first ones.
    public func sessions(after name: String, limit: Int) async throws(StoreError) -> [SessionStatus] {
        try await read { [sealer] db in
            try db.rows("SELECT * FROM sessions WHERE id > ? ORDER BY id LIMIT ?", [name, limit])
                .map { try SessionRow.status($0, in: db, sealer) }
        }
    }
}
