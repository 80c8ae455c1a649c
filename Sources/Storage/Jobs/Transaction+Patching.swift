import Downloads

extension Transaction {
    func requireRevision(_ revision: Int, of id: JobID) throws {
        let job = try job(id)
        guard job.revision == revision else { throw StoreError.revisionChanged(id, now: job.revision) }
    }

    /// - Returns: nil when the specification is not `before`.
    func patchJob(
        _ id: JobID, from before: JobSpec, to after: JobSpec, _ fields: Set<PatchableField>
    ) throws -> SignalOutcome? {
        let job = try job(id)
        return job.spec == before ? try patch(job, to: after, fields) : nil
    }

    private func patch(_ job: Job, to spec: JobSpec, _ fields: Set<PatchableField>) throws -> SignalOutcome {
        let fixed = fields.filter { !job.state.lets($0) }
        guard fixed.isEmpty else {
            throw StoreError.fieldsFixed(job.id, state: job.state.name, fields: fixed.map(\.rawValue).sorted())
        }
        var patched = job
        patched.spec = spec
        patched.spec.priority = try spec.priority ?? configuration(of: job.session).priority
        patched.revision += 1
        if fields.contains(.url) {
            patched.mirror = 0
            // No digest has disproved the bytes of the new URL.
            patched.isDisproved = false
        }
        try save(patched)
        try noteChangedSpecification(of: patched)
        wake(.jobs)
        // A job whose secrets are lost waits for `credentials`, also if another member was lost.
        let help = spec.lost == job.spec.lost ? fields.help : fields.help.union([.credentials])
        let outcome = try transitionJob(patched, on: .helpSupplied(help))
        return .done(outcome.job, then: [])
    }
}
