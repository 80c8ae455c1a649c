import Downloads
import Foundation
import GRDB

/// A job that is asked for.
public struct NewJob: Sendable {
    public var session: Name
    public var spec: JobSpec
    /// The job whose bytes it goes on from.
    public var resumeFrom: JobID?

    public init(session: Name, spec: JobSpec, resumeFrom: JobID? = nil) {
        self.session = session
        self.spec = spec
        self.resumeFrom = resumeFrom
    }
}

/// Creating, reading and forgetting jobs.
extension Store {
    /// All of them or none, in the order asked for; durable when this returns.
    ///
    /// - Throws: `unknownSession` or `sessionFinishing` with the place of the first job that names such a session.
    public func createJobs(_ new: [NewJob]) async throws -> [Job] {
        try await writer.write { try $0.create(new) }
    }

    /// The same, once: a request that was carried out before is answered as it was then, and creates nothing.
    ///
    /// - Parameter answer: what the request is answered, kept with the jobs.
    /// - Throws: also `idempotencyKeyReused`.
    public func createJobs(
        _ new: [NewJob], once claim: IdempotencyClaim, answer: @escaping @Sendable ([Job]) -> RememberedAnswer
    ) async throws -> RememberedAnswer {
        try await writer.write { transaction in
            if let first = try transaction.rememberedAnswer(to: claim) { return first }
            let answer = answer(try transaction.create(new))
            try transaction.remember(answer, to: claim)
            return answer
        }
    }

    /// From memory where it was asked for lately.
    ///
    /// - Throws: `noSuchJob`.
    public func job(_ id: JobID) throws(StoreError) -> Job {
        let job = try known.job(id) { () throws(StoreError) in try read { db in try JobRow.job(id, in: db) } }
        guard let job else { throw .noSuchJob(id) }
        return job
    }

    /// The job as it is committed, where that is known without reading; it need not exist otherwise.
    public func knownJob(_ id: JobID) -> Job? { known[id] }

    /// Forgets a job that is not outstanding: row, part, tags. Its events and deliveries stay, and so does its file.
    ///
    /// - Returns: the job as it was; nil when it is outstanding, and then nothing has changed.
    public func forgetJob(_ id: JobID) async throws -> Job? {
        try await writer.write { transaction in
            let job = try transaction.job(id)
            guard job.state.isTerminal else { return nil }
            try transaction.announce(.jobDeleted, of: job)
            try transaction.run("DELETE FROM jobs WHERE id = ?", [id.text])
            transaction.touch(id)
            return job
        }
    }
}

extension Transaction {
    fileprivate func create(_ new: [NewJob]) throws -> [Job] {
        var jobs: [Job] = []
        jobs.reserveCapacity(new.count)
        for run in new.indices.runs(where: { new[$0].session == new[$1].session }) {
            jobs += try create(new[run], at: run.lowerBound)
        }
        wake(.jobs)
        return jobs
    }

    /// Jobs of one session.
    fileprivate func create(_ new: ArraySlice<NewJob>, at index: Int) throws -> [Job] {
        guard let session = new.first?.session else { return [] }
        let configuration = try configuration(of: session, for: index)
        let batch = try joinBatch(session, adding: new.count)
        try noteMovement(of: session)
        return try zip(index..., new).map { index, new in
            var spec = new.spec
            spec.priority = spec.priority ?? configuration.priority
            let job = Job(
                id: .make(nextULID()), session: session, batch: batch, spec: spec, createdAt: now)
            try insert(job)
            if let donor = new.resumeFrom { try adoptPart(of: donor, by: job.id, at: index) }
            try announce(.jobCreated, of: job)
            return new.resumeFrom == nil ? job : try self.job(job.id)
        }
    }
}

extension Transaction {
    /// Of a session that is asked to take a job.
    private func configuration(of id: Name, for index: Int) throws -> SessionConfiguration {
        do {
            let session = try session(id)
            guard !session.isFinishing else { throw StoreError.sessionFinishing(id, index: index) }
            return session.configuration
        } catch StoreError.noSuchSession {
            throw StoreError.unknownSession(id, index: index)
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
