import Downloads
import Formats
import HTTPSemantics

/// Writes new jobs.
extension Transaction {
    /// - Parameter jobs: queued or paused jobs of one batch, without a part. Their times are rounded to milliseconds.
    func insert(_ jobs: [Job]) throws {
        guard let first = jobs.first else { return }
        for chunk in RowInsertion.chunks(jobs) {
            var values: [(any SQLValue)?] = []
            values.reserveCapacity(chunk.count * Self.newJobColumns)
            for job in chunk { try appendColumns(of: job, to: &values) }
            try Self.insertion.run(values, rows: chunk.count, in: self)
        }
        let paused = jobs.count { $0.state == .paused }
        counts.addNew(queued: jobs.count - paused, paused: paused, to: first.batch, of: first.session)
        for job in jobs {
            wakeDeadlines(job)
            for tag in job.spec.tags {
                try run(
                    "INSERT INTO job_tags (tag, session, job) VALUES (?, ?, ?)", [tag, job.session.text, job.id.text])
            }
            touch(job.id)
            working.jobs.note(job, for: job.id)
        }
    }

    private static let newJobColumns = 15
    private static let insertion = RowInsertion(
        """
        jobs (id, session, batch, state, revision, spec, priority, host, held_until, deadline, fails_at, created_at, token, trace,
            gid)
        """, columns: newJobColumns)

    private func appendColumns(of job: Job, to values: inout [(any SQLValue)?]) throws {
        values.append(job.id.text)
        values.append(job.session.text)
        values.append(job.batch)
        values.append(job.state.name.rawValue)
        values.append(job.revision)
        values.append(try sealer.text(job.spec, of: job.id))
        values.append(job.rank)
        values.append(URLRule.hostAndPort(of: job.url))
        values.append(heldUntil(job)?.milliseconds)
        values.append(job.spec.deadline?.milliseconds)
        values.append(job.failsAt?.milliseconds)
        values.append(job.createdAt.milliseconds)
        values.append(job.token?.text)
        values.append(job.trace?.stored)
        values.append(job.gid?.description)
    }
}
