import Downloads
import Storage

/// Promotions that another process had begun.
extension Promoter {
    /// Continues the promotions. A job whose file cannot be moved to its place waits or fails.
    func complete(_ jobs: [AdmittedJob], _ services: EngineServices) async throws {
        let promotions = jobs.compactMap { job in job.job.state.promotion.map { (job.job.id, $0) } }
        guard !promotions.isEmpty else { return }
        for (job, fault) in await carryOn(promotions) {
            let spec = jobs.first { $0.job.id == job }?.spec
            _ = try await services.store.apply(
                Self.signal(of: fault, spec?.waitFor ?? WaitFor.defaults, services), to: job,
                AttemptReport(hasLostPart: fault.isPartLost))
        }
    }

    /// The signal for a job whose promotion cannot be completed.
    private static func signal(
        of fault: PromotionFault, _ waitsFor: [WaitFor], _ services: EngineServices
    ) -> JobSignal {
        let now = services.time.now
        var failure = fault.failure
        failure.at = now
        let verdict = RetryPolicy().verdict(
            on: failure, waitsFor: waitsFor, failuresInARow: 1, hint: RetryPolicy.Hint(mayPass: fault.isPartLost),
            at: now, jitter: 0)
        return switch verdict {
        case .wait(let wait): .attemptDeferred(wait)
        case .fail(let failure): .attemptFailed(failure)
        }
    }
}
