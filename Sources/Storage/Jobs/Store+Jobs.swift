import Downloads
import Foundation
import GRDB

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
        let job = try jobCache.job(id) { () throws(StoreError) in try read { db in try JobRow.job(id, in: db) } }
        guard let job else { throw .noSuchJob(id) }
        return job
    }

    /// The job as it is committed, where that is known without reading; it need not exist otherwise.
    public func cachedJob(_ id: JobID) -> Job? { jobCache[id] }

    /// Forgets a job that is not outstanding: row, part, tags. Its events and deliveries stay, and so does its file.
    ///
    /// - Returns: the job as it was; nil when it is outstanding, and then nothing has changed.
    public func deleteJob(_ id: JobID) async throws -> Job? {
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
