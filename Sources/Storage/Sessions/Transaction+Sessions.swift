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
    func declareSession(
        _ id: Name, _ configuration: SessionConfiguration?, audit note: AuditNote? = nil
    ) throws -> Bool {
        if try row("SELECT 1 FROM sessions WHERE id = ?", [id.text]) == nil {
            try insertSession(
                id, keepingSecrets(of: SessionConfiguration(), in: configuration ?? SessionConfiguration()))
            try audit(note)
            return true
        }
        guard let configuration else { return false }
        let before = try self.configuration(of: id)
        let after = try keepingSecrets(of: before, in: configuration)
        if after != before { try audit(note) }
        try run("UPDATE sessions SET configuration = ? WHERE id = ?", [try sealer.text(after, of: id), id.text])
        working.sessions.forget(id)
        // A higher limit may admit jobs.
        wake(.jobs)
        if after.rateLimit != before.rateLimit { wake(.configurations) }
        if after.lost != before.lost {
            try supply([.credentials, .proxy], toJobsOf: id)
        } else if after.proxy != before.proxy {
            try supply([.proxy], toJobsOf: id)
        }
        return false
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

    /// A new session begins after the events that an earlier session of the same name left in the journal.
    private func insertSession(_ id: Name, _ configuration: SessionConfiguration) throws {
        try run(
            """
            INSERT INTO sessions (id, configuration, acknowledged_through, created_at)
            SELECT ?1, ?2, coalesce(max(id), (SELECT last_event FROM removed_events WHERE session = ?1), 0), CAST(?3 AS BIGINT)
            FROM events WHERE session = ?1
            """, [id.text, try sealer.text(configuration, of: id), now.milliseconds])
        try run("INSERT INTO session_counts (session) VALUES (?)", [id.text])
    }
}
