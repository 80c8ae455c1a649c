import Downloads

extension Transaction {
    func create(_ new: [NewJob]) throws -> [Job] {
        var jobs: [Job] = []
        jobs.reserveCapacity(new.count)
        for run in new.indices.runs(where: { new[$0].session == new[$1].session }) {
            jobs += try create(new[run], at: run.lowerBound)
        }
        wake(.jobs)
        return jobs
    }

    /// Jobs of one session.
    func create(_ new: ArraySlice<NewJob>, at index: Int) throws -> [Job] {
        guard let session = new.first?.session else { return [] }
        let configuration = try configuration(of: session, for: index)
        let batch = try joinBatch(session, adding: new.count)
        try clearWaiting(of: session)
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
