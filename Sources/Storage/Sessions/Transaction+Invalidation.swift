import Downloads
import GRDB

extension Transaction {
    func invalidateSession(_ id: Name) throws {
        _ = try session(id)
        guard id != .default else { throw StoreError.sessionPermanent(id) }
        try run("UPDATE sessions SET is_finishing = 1 WHERE id = ?", [id.text])
        working.sessions.forget(id)
        try expediteBatch(id)
        wake(.sessions)
    }

    func settledSessions() throws -> [Name] { try rows(Self.settledSessions).map { Name(trusted: $0["id"]) } }

    static let settledSessions = """
        SELECT id FROM sessions WHERE is_finishing = 1
            AND NOT EXISTS (SELECT 1 FROM batches WHERE session = sessions.id AND state IN ('open', 'due'))
            AND NOT EXISTS (
                SELECT 1 FROM webhooks JOIN deliveries ON deliveries.webhook = webhooks.key
                WHERE webhooks.session = sessions.id AND deliveries.state = 'pending')
        """

    func removeSession(_ session: Name, jobsInAStep: Int) throws -> SessionRemovalStep {
        let parts = try rows(
            """
            SELECT parts.id FROM parts JOIN jobs ON jobs.id = parts.job WHERE jobs.id IN (\(Self.firstJobs))
            """, [session.text, jobsInAStep])
        for job in try rows(Self.firstJobs, [session.text, jobsInAStep]) { forget(JobID(job["id"])) }
        try run("DELETE FROM jobs WHERE id IN (\(Self.firstJobs))", [session.text, jobsInAStep])
        let isGone = changedRows < jobsInAStep
        if isGone {
            try run("DELETE FROM batches WHERE session = ?", [session.text])
            try run("DELETE FROM sessions WHERE id = ?", [session.text])
            working.currentBatches.forget(session)
            working.sessions.forget(session)
            working.subscriptions.forget(session)
        } else {
            wake(.sessions)
        }
        return SessionRemovalStep(session: session, dropped: parts.map { PartID($0["id"]) }, isGone: isGone)
    }

    private static let firstJobs = "SELECT id FROM jobs WHERE session = ? ORDER BY id LIMIT ?"
}
