import Downloads

/// Declares sessions and reads their status.
extension Store {
    /// Creates a session, or returns the existing one.
    ///
    /// - Parameters:
    ///   - configuration: replaces the configuration of an existing session; nil changes nothing.
    ///   - onCommit: see `Writer.write`.
    public func declareSession(
        _ id: Name, configuration: SessionConfiguration?, audit note: AuditNote? = nil,
        onCommit: @escaping @Sendable () -> Void = {}
    ) async throws -> (status: SessionStatus, isNew: Bool) {
        let isNew = try await writer.write(onCommit: { _ in onCommit() }) {
            try $0.declareSession(id, configuration, audit: note)
        }
        return (try await session(id), isNew)
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
    public func sessions() async throws(StoreError) -> [SessionStatus] {
        try await read { [sealer] db in
            try db.rows("SELECT * FROM sessions ORDER BY id")
                .map { try SessionRow.status($0, in: db, sealer) }
        }
    }
}
