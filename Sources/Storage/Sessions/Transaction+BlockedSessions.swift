import Downloads
import Formats
import Foundation
import GRDB

/// `session.waiting`: told once when every job that a session still owes waits for somebody's help, and again only after
/// some job has gone on.
extension Transaction {
    /// After a job has got stuck or ended: the last one that could still move may have been it.
    func announceWaitingIfBlocked(of session: Name) throws {
        guard try isBlocked(session) else { return }
        try run("UPDATE sessions SET waits_for_help = 1 WHERE id = ? AND waits_for_help = 0", [session.text])
        guard changedRows == 1 else { return }
        try append(.sessionWaiting, session: session, job: nil, data: waitingAnnouncement(of: session))
    }

    /// After a job was queued: something moves.
    func clearWaiting(of session: Name) throws {
        try run("UPDATE sessions SET waits_for_help = 0 WHERE id = ? AND waits_for_help = 1", [session.text])
    }

    private func isBlocked(_ session: Name) throws -> Bool {
        // Nearly always the answer, from an index that is nearly always empty.
        let blocked = try row(
            "SELECT count(*) AS n FROM jobs WHERE session = ? AND reason IN ('credentials', 'url')", [session.text])
        guard let blocked: Int = blocked?["n"], blocked > 0 else { return false }
        let owed = try row(
            "SELECT outstanding FROM batches WHERE session = ? AND state IN ('open', 'due')", [session.text])
        return owed?["outstanding"] == blocked
    }

    private func waitingAnnouncement(of session: Name) throws -> JSONObject {
        let counts = try rows(
            "SELECT reason, count(*) AS n FROM jobs WHERE session = ? AND reason IN ('credentials', 'url') GROUP BY reason",
            [session.text])
        let jobs = try rows(
            JobRow.select + "WHERE jobs.session = ? AND jobs.reason IN ('credentials', 'url') ORDER BY jobs.id LIMIT ?",
            [session.text, Session.mostJobsAnnounced]
        ).map(JobRow.job)
        return Session.waitingAnnouncement(
            try Dictionary(
                uniqueKeysWithValues: counts.map { (try $0.named("reason", as: Wait.Name.self), $0["n"]) }),
            jobs: jobs.compactMap { job in job.state.wait.map { (job.id, $0) } })
    }
}
