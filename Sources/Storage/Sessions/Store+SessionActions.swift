import Downloads

/// Applies one action to all jobs of a session.
extension Store {
    /// Applies a signal to the outstanding jobs of a session, one step at a time, so that a large session does not block
    /// other writes. It reaches the jobs that exist when this begins, and perhaps later ones.
    ///
    /// - Parameters:
    ///   - limit: the number of jobs of a step.
    ///   - onCommit: see `Writer.write`.
    ///   - afterStep: is called with the result of each step, while the next one is read.
    /// - Throws: `noSuchSession`.
    public func apply(
        _ signal: JobSignal, toJobsOf session: Name, limit: Int = 500,
        onCommit: @escaping @Sendable (SessionActionStep) -> Void = { _ in },
        afterStep body: (SessionActionStep) async -> Void = { _ in }
    ) async throws {
        var step: [PreparedTransition]? = try await prepare(signal, forJobsOf: session, after: nil, limit)
        while let current = step {
            async let next = prepareNext(current, signal, session, limit)
            await body(
                try await writer.write(onCommit: onCommit) { transaction in
                    _ = try transaction.session(session)
                    var writer = TransitionWriter(transaction, jobsAreFresh: false)
                    return SessionActionStep(outcomes: try writer.write(current))
                })
            step = try await next
        }
    }

    private func prepareNext(
        _ step: [PreparedTransition], _ signal: JobSignal, _ session: Name, _ limit: Int
    ) async throws -> [PreparedTransition]? {
        guard step.count == limit, let last = step.last?.job.id else { return nil }
        return try await prepare(signal, forJobsOf: session, after: last, limit)
    }

    /// Reads the next jobs, and decides what the signal makes of them.
    private func prepare(
        _ signal: JobSignal, forJobsOf session: Name, after: JobID?, _ limit: Int
    ) async throws(StoreError) -> [PreparedTransition] {
        let (now, confidence) = (time.now, time.confidence)
        return try await read { [sealer] db in
            try db.map(
                Self.outstandingJobs, ["session": session.text, "after": after?.text ?? "", "limit": limit]
            ) { PreparedTransition(try JobRow.job($0, sealer), on: signal, at: now, confidence) }
        }
    }

    /// Reads the next jobs of each state from an index, so jobs that have ended cost nothing.
    static let outstandingJobs = """
        \(JobRow.select)WHERE jobs.id IN (
            SELECT id FROM (SELECT id FROM jobs WHERE coalesce(session, '') = :session AND state = 'running'
                AND id > :after ORDER BY id LIMIT :limit) AS running
            \(["queued", "waiting", "paused"].map(nextJobs).joined(separator: "\n"))
            ORDER BY id LIMIT :limit)
        ORDER BY jobs.id
        """

    private static func nextJobs(_ state: String) -> String {
        """
        UNION ALL SELECT id FROM (SELECT id FROM jobs WHERE session = :session AND state = '\(state)'
            AND state <> 'running' AND id > :after ORDER BY id LIMIT :limit) AS \(state)
        """
    }
}
