import Downloads
import Formats
import Foundation

/// Appends `session.waiting` once when every outstanding job of a session is blocked: it waits for credentials or a URL
/// from the client. The event is appended again only after some job was queued.
extension Transaction {
    /// Called after a job has blocked or ended: it may have been the last job that could run.
    func announceWaitingIfBlocked(of session: Name) throws {
        guard try isBlocked(session) else { return }
        let begins = "UPDATE sessions SET waits_for_help = 1 WHERE id = ? AND waits_for_help = 0"
        guard try changedRows(begins, [session.text]) == 1 else { return }
        try append(.sessionWaiting, session: session, job: nil, data: waitingAnnouncement(of: session))
    }

    /// Called after a job was queued.
    func clearWaiting(of session: Name) throws {
        try run("UPDATE sessions SET waits_for_help = 0 WHERE id = ? AND waits_for_help = 1", [session.text])
    }

    private func isBlocked(_ session: Name) throws -> Bool {
        let blocked = try blockedJobs(of: session)
        guard blocked > 0 else { return false }
        return try currentBatch(session)?.counts.outstanding == blocked
    }

    /// The number of jobs that wait for help of the client.
    func blockedJobs(of session: Name) throws -> Int {
        if let known = working.blockedJobs[session] { return known }
        let blocked: Int =
            try row(
                "SELECT count(*) AS n FROM jobs WHERE session = ? AND reason IN ('credentials', 'url')", [session.text])?[
                0]
            ?? 0
        working.blockedJobs.note(blocked, for: session)
        return blocked
    }

    private func waitingAnnouncement(of session: Name) throws -> JSONObject {
        let counts = try rows(
            "SELECT reason, count(*) AS n FROM jobs WHERE session = ? AND reason IN ('credentials', 'url') GROUP BY reason",
            [session.text])
        let jobs = try jobs(
            JobRow.select + "WHERE jobs.session = ? AND jobs.reason IN ('credentials', 'url') ORDER BY jobs.id LIMIT ?",
            [session.text, Session.mostJobsAnnounced])
        return Session.waitingAnnouncement(
            try Dictionary(
                uniqueKeysWithValues: counts.map { (try $0.named("reason", as: Wait.Name.self), $0["n"]) }),
            jobs: jobs.compactMap { job in job.state.wait.map { (job.id, $0) } })
    }
}
