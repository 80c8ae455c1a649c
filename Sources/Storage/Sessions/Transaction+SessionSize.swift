import Downloads

/// Keeps the finished files and the parts of a session within its `max_total_size`.
extension Transaction {
    /// The largest size that the file of the job may have beside those of the other jobs of its session.
    ///
    /// - Returns: nil when the session has no limit.
    func roomInSession(for job: Job, _ configuration: SessionConfiguration) throws -> SizeLimit? {
        guard let total = configuration.maxTotalSize else { return nil }
        let ofOthers = try heldBytes(of: job.session) - JobShare(job).heldBytes
        return SizeLimit(max(0, total - ofOthers), of: .session(total: total))
    }

    /// Whether the verified file of a job fits beside the files that other jobs have finished meanwhile.
    ///
    /// - Returns: nil when it fits.
    func excess(_ promotion: Promotion, of job: Job) throws -> SizeLimit? {
        guard let room = try roomInSession(for: job, try configuration(of: job.session)),
            promotion.file.size > room.bytes
        else { return nil }
        return room
    }

    /// Changes the sum of the session, if the writer knows it. `count(_:_:)` calls this.
    func countHeldBytes(_ before: JobShare?, _ after: JobShare?) {
        guard let session = (after ?? before)?.session, let known = working.heldBytes[session] else { return }
        let change = (after?.heldBytes ?? 0) - (before?.heldBytes ?? 0)
        if change != 0 { working.heldBytes.note(known + change, for: session) }
    }

    /// Reads all jobs of the session in an index when the writer does not know the sum yet.
    func heldBytes(of session: Name) throws -> Int64 {
        if let known = working.heldBytes[session] { return known }
        let held: Int64 = try row(Self.sumOfHeldBytes, ["session": session.text])?[0] ?? 0
        working.heldBytes.note(held, for: session)
        return held
    }

    /// The second condition on the state is that of the index `jobs_resting_by_session`.
    static let sumOfHeldBytes = """
        SELECT (SELECT coalesce(sum(file_size), 0) FROM jobs
                WHERE session = :session AND state = 'succeeded' AND state <> 'running')
            + (SELECT coalesce(sum(max(parts.bytes_durable, coalesce(parts.size, 0))), 0)
                FROM parts JOIN jobs ON jobs.id = parts.job
                WHERE jobs.session = :session AND jobs.state IN ('queued', 'running', 'waiting', 'paused'))
        """
}
