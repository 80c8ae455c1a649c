import Downloads
import GRDB

extension Transaction {
    func close(_ session: Name, jobsInAStep: Int) throws -> SessionRemovalStep {
        let parts = try rows(
            """
            SELECT parts.id FROM parts JOIN jobs ON jobs.id = parts.job WHERE jobs.id IN (\(Self.firstJobs))
            """, [session.text, jobsInAStep])
        for job in try rows(Self.firstJobs, [session.text, jobsInAStep]) { touch(JobID(job["id"])) }
        try run("DELETE FROM jobs WHERE id IN (\(Self.firstJobs))", [session.text, jobsInAStep])
        let isGone = changedRows < jobsInAStep
        if isGone {
            try run("DELETE FROM batches WHERE session = ?", [session.text])
            try run("DELETE FROM sessions WHERE id = ?", [session.text])
        } else {
            wake(.sessions)
        }
        return SessionRemovalStep(session: session, dropped: parts.map { PartID($0["id"]) }, isGone: isGone)
    }

    private static let firstJobs = "SELECT id FROM jobs WHERE session = ? ORDER BY id LIMIT ?"
}
