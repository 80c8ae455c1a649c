import Downloads
import Formats
import Foundation

extension Transaction {
    func createJobs(_ new: [NewJob], by creator: JobCreator = .unlimited) throws -> [Job] {
        try requireQuota(of: creator, for: new.count)
        var jobs: [Job] = []
        jobs.reserveCapacity(new.count)
        for run in new.indices.runs(where: { new[$0].session == new[$1].session }) {
            jobs += try createJobs(ofOneSession: new[run], at: run.lowerBound, by: creator)
        }
        wake(.jobs)
        return jobs
    }

    private func createJobs(
        ofOneSession new: ArraySlice<NewJob>, at index: Int, by creator: JobCreator
    ) throws -> [Job] {
        guard let session = new.first?.session else { return [] }
        let configuration = try openConfiguration(of: session, forJobAt: index)
        let batch = try joinBatch(session, adding: new.count)
        try clearWaiting(of: session)
        let jobs = new.map { new in
            var spec = new.spec
            spec.priority = spec.priority ?? configuration.priority
            return Job(
                id: .make(nextULID()), session: session, token: creator.token, gid: new.gid, batch: batch,
                state: new.isPaused ? .paused : .queued, spec: spec, trace: creator.trace, createdAt: now
            ).roundedToMilliseconds
        }
        for gid in new.compactMap(\.gid) { try requireFree(gid, in: session) }
        try insert(jobs)
        for (index, (new, job)) in zip(index..., zip(new, jobs)) {
            if let donor = new.resumeFrom { try adoptPart(of: donor, by: job, at: index, creator) }
        }
        try append(
            jobs.flatMap { job in
                (job.state == .paused ? [EventType.jobCreated, .jobPaused] : [.jobCreated]).map {
                    NewEvent($0, of: job, data: JSON.object(job.announcement($0)).written)
                }
            })
        for (new, job) in zip(new, jobs) {
            if let place = new.place { _ = try moveJob(job.id, to: place) }
        }
        return try jobs.map { try job($0.id) }
    }

    /// The configuration of a session that accepts new jobs.
    private func openConfiguration(of id: Name, forJobAt index: Int) throws -> SessionConfiguration {
        do {
            let session = try session(id)
            guard !session.isFinishing else { throw StoreError.sessionFinishing(id, index: index) }
            return session.configuration
        } catch StoreError.noSuchSession {
            throw StoreError.unknownSession(id, index: index)
        }
    }

    private func requireFree(_ gid: GID, in session: Name) throws {
        let taken = try row(
            "SELECT 1 FROM jobs WHERE session = ? AND gid IS NOT NULL AND gid = ?", [session.text, gid.description])
        guard taken == nil else { throw StoreError.gidTaken(gid) }
    }

    func deleteJob(_ id: JobID) throws -> Job? {
        let job = try job(id)
        guard job.state.isTerminal else { return nil }
        try announce(.jobDeleted, of: job)
        try delete(job)
        return job
    }
}

extension Range<Int> {
    /// Splits the range into the longest runs whose elements all match the first element of their run.
    fileprivate func runs(where match: (Int, Int) -> Bool) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for index in self {
            if let last = runs.last, match(last.lowerBound, index) {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
        }
        return runs
    }
}
