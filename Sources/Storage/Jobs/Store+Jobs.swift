import Downloads
import Foundation
import GRDB

/// A job that is asked for.
public struct NewJob: Sendable {
    public var session: Name
    public var spec: JobSpec

    public init(session: Name, spec: JobSpec) {
        self.session = session
        self.spec = spec
    }
}

/// Creating, reading and forgetting jobs.
extension Store {
    /// All of them or none, in the order asked for; durable when this returns.
    ///
    /// - Throws: `unknownSession` with the place of the first job that names one.
    public func createJobs(_ new: [NewJob]) async throws -> [Job] {
        try await writer.write { transaction in
            var jobs: [Job] = []
            jobs.reserveCapacity(new.count)
            for run in new.indices.runs(where: { new[$0].session == new[$1].session }) {
                jobs += try transaction.create(new[run], at: run.lowerBound)
            }
            transaction.wake(.jobs)
            return jobs
        }
    }

    /// - Throws: `noSuchJob`.
    public func job(_ id: JobID) throws(StoreError) -> Job {
        let job = try read { db in
            try Row.fetchOne(db.cachedStatement(sql: JobRow.select + "WHERE jobs.id = ?"), arguments: [id.text])
                .map(JobRow.job)
        }
        guard let job else { throw .noSuchJob(id) }
        return job
    }

    /// Forgets a job that is not outstanding: row, part, tags. Its events and deliveries stay, and so does its file.
    ///
    /// - Returns: the job as it was; nil when it is outstanding, and then nothing has changed.
    public func forgetJob(_ id: JobID) async throws -> Job? {
        try await writer.write { transaction in
            let job = try transaction.job(id)
            guard job.state.isTerminal else { return nil }
            try transaction.announce(.jobDeleted, of: job)
            try transaction.run("DELETE FROM jobs WHERE id = ?", [id.text])
            return job
        }
    }
}

extension Transaction {
    /// Jobs of one session.
    fileprivate func create(_ new: ArraySlice<NewJob>, at index: Int) throws -> [Job] {
        guard let session = new.first?.session else { return [] }
        guard let row = try row("SELECT * FROM sessions WHERE id = ?", [session.text]) else {
            throw StoreError.unknownSession(session, index: index)
        }
        let configuration = try SessionRow.session(row).configuration
        let batch = try joinBatch(session, adding: new.count)
        return try new.map { new in
            var spec = new.spec
            spec.priority = spec.priority ?? configuration.priority
            let job = Job(
                id: .make(nextULID()), session: session, batch: batch, spec: spec, createdAt: now)
            try insert(job)
            try announce(.jobCreated, of: job)
            return job
        }
    }
}

extension Range<Int> {
    /// Maximal stretches of neighbours that belong together.
    fileprivate func runs(where areAlike: (Int, Int) -> Bool) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for index in self {
            if let last = runs.last, areAlike(last.lowerBound, index) {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
        }
        return runs
    }
}
