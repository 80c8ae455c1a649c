import Downloads
import Formats
import Foundation
import GRDB

extension Transaction {
    /// - Throws: `noSuchSession`.
    func session(_ id: Name) throws -> Session {
        if let known = working.sessions[id] { return known }
        guard let row = try row("SELECT * FROM sessions WHERE id = ?", [id.text]) else {
            throw StoreError.noSuchSession(id)
        }
        let session = try SessionRow.session(row)
        working.sessions.note(session, for: id)
        return session
    }

    func configuration(of session: Name) throws -> SessionConfiguration { try self.session(session).configuration }

    /// - Parameter note: the entry of the audit log, if anything changes: clients declare a session as often as they like.
    /// - Returns: whether the session is new.
    func declareSession(
        _ id: Name, _ configuration: SessionConfiguration?, audit note: AuditNote? = nil
    ) throws -> Bool {
        if try row("SELECT 1 FROM sessions WHERE id = ?", [id.text]) == nil {
            try insertSession(id, configuration ?? SessionConfiguration())
            try audit(note)
            return true
        }
        guard let configuration else { return false }
        let before = try self.configuration(of: id)
        if configuration != before { try audit(note) }
        let proxy = before.proxy
        try run("UPDATE sessions SET configuration = ? WHERE id = ?", [try Stored.text(configuration), id.text])
        working.sessions.forget(id)
        // A higher limit may admit jobs.
        wake(.jobs)
        if configuration.proxy != proxy { try supplyProxy(toJobsOf: id) }
        return false
    }

    /// Queues the jobs that wait for credentials of the session's proxy. The index of blocked jobs is nearly always empty.
    private func supplyProxy(toJobsOf session: Name) throws {
        let blocked = try jobs(
            JobRow.select + "WHERE jobs.session = ? AND jobs.reason IN ('credentials', 'url') ORDER BY jobs.id",
            [session.text])
        for job in blocked where job.state.wait?.isForProxy ?? false {
            _ = try transitionJob(job.id, on: .helpSupplied([.proxy]))
        }
    }

    /// A new session begins after the events that an earlier session of the same name left in the journal.
    private func insertSession(_ id: Name, _ configuration: SessionConfiguration) throws {
        try run(
            """
            INSERT INTO sessions (id, configuration, acknowledged_through, created_at)
            SELECT ?1, ?2, coalesce(max(id), (SELECT last_event FROM removed_events WHERE session = ?1), 0), ?3
            FROM events WHERE session = ?1
            """, [id.text, try Stored.text(configuration), now.milliseconds])
        try run("INSERT INTO session_counts (session) VALUES (?)", [id.text])
    }
}
