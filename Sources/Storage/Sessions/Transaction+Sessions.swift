import Downloads
import Formats
import Foundation

extension Transaction {
    /// - Throws: `noSuchSession`.
    func session(_ id: Name) throws -> Session {
        if let known = working.sessions[id] { return known }
        guard let row = try row("SELECT * FROM sessions WHERE id = ?", [id.text]) else {
            throw StoreError.noSuchSession(id)
        }
        let session = try SessionRow.session(row, sealer)
        working.sessions.note(session, for: id)
        return session
    }

    func configuration(of session: Name) throws -> SessionConfiguration { try self.session(session).configuration }

    /// The configurations of those sessions that exist.
    func configurations(of sessions: [Name]) throws -> [Name: SessionConfiguration] {
        var configurations: [Name: SessionConfiguration] = [:]
        for name in sessions {
            do { configurations[name] = try configuration(of: name) } catch StoreError.noSuchSession { continue }
        }
        return configurations
    }

    /// - Parameter note: the entry of the audit log, if anything changes: clients declare a session as often as they like.
    /// - Returns: whether the session is new.
    /// - Throws: `placeholderUnknown`, `sessionChanged`.
    func declareSession(
        _ id: Name, _ configuration: SessionConfiguration?, expecting expectation: SessionExpectation = .nothing,
        audit note: AuditNote? = nil
    ) throws -> Bool {
        if try row("SELECT 1 FROM sessions WHERE id = ?", [id.text]) == nil {
            guard expectation == .nothing else { throw StoreError.sessionChanged(id, now: nil) }
            try insertSession(
                id, keepingSecrets(of: SessionConfiguration(), in: configuration ?? SessionConfiguration()))
            try audit(note)
            return true
        }
        let session = try session(id)
        if case .revision(let revision) = expectation, revision != session.revision {
            throw StoreError.sessionChanged(id, now: session.revision)
        }
        if let configuration { try change(session, to: configuration, audit: note) }
        return false
    }

    /// Replaces the configuration of a session. Jobs that wait for what has changed are queued.
    ///
    /// - Parameter note: the entry of the audit log, if anything changes.
    /// - Throws: `placeholderUnknown`.
    func change(
        _ session: Session, to configuration: SessionConfiguration, audit note: AuditNote? = nil
    ) throws {
        let (id, before) = (session.id, session.configuration)
        let after = try keepingSecrets(of: before, in: configuration)
        if after != before { try audit(note) }
        try run(
            "UPDATE sessions SET configuration = ?, revision = revision + ? WHERE id = ?",
            [try sealer.text(after, of: id), after != before, id.text])
        working.sessions.forget(id)
        try noteExpectation(of: id, before: session)
        // A higher limit may admit jobs.
        wake(.jobs)
        if after.rateLimit != before.rateLimit { wake(.configurations) }
        if after.lost != before.lost {
            try supply([.credentials, .proxy], toJobsOf: id)
        } else if after.proxy != before.proxy {
            try supply([.proxy], toJobsOf: id)
        }
    }

    /// - Throws: `placeholderUnknown`.
    private func keepingSecrets(
        of stored: SessionConfiguration, in declared: SessionConfiguration
    ) throws -> SessionConfiguration {
        do {
            return try declared.keepingSecrets(of: stored)
        } catch {
            throw StoreError.placeholderUnknown(header: error.header)
        }
    }

    /// Queues the jobs that wait for credentials of the session's proxy, or for other secrets of the session. The index of
    /// blocked jobs is nearly always empty.
    private func supply(_ help: Set<Help>, toJobsOf session: Name) throws {
        let blocked = try jobs(
            JobRow.select + "WHERE jobs.session = ? AND jobs.reason IN ('credentials', 'url') ORDER BY jobs.id",
            [session.text])
        for job in blocked { _ = try transitionJob(job.id, on: .helpSupplied(help)) }
    }

    /// A new session begins after the events that an earlier session of the same name left in the journal. Its revision begins
    /// with the time, so that it is none of the earlier session.
    private func insertSession(_ id: Name, _ configuration: SessionConfiguration) throws {
        try run(
            """
            INSERT INTO sessions (id, configuration, acknowledged_through, created_at, revision, expects_acknowledgement)
            SELECT ?1, ?2, coalesce(max(id), (SELECT last_event FROM removed_events WHERE session = ?1), 0),
                CAST(?3 AS BIGINT), CAST(?3 AS BIGINT), CAST(?4 AS BIGINT)
            FROM events WHERE session = ?1
            """,
            [
                id.text, try sealer.text(configuration, of: id), now.milliseconds,
                configuration.acknowledgement == .expected,
            ])
        try run("INSERT INTO session_counts (session) VALUES (?)", [id.text])
    }
}
