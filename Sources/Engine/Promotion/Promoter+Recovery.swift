import Downloads
import Storage

/// Promotions that another process had begun.
extension Promoter {
    /// Continues the promotions. A job whose file cannot be moved to its place waits or fails.
    ///
    /// An end that cannot be stored before the service stops is counted in `Store.unstored`.
    func complete(_ jobs: [AdmittedJob], _ services: EngineServices) async {
        let promotions = jobs.compactMap { job in
            job.job.state.promotion.map {
                PlannedPromotion(job: job.job.id, admission: job.job.admissions, promotion: $0)
            }
        }
        guard !promotions.isEmpty else { return }
        for (id, fault) in await carryOn(promotions) {
            guard let job = jobs.first(where: { $0.job.id == id }) else { continue }
            let report = AttemptReport(admission: job.job.admissions, hasLostPart: fault.isPartLost)
            let signal = Self.signal(of: fault, job.spec.waitFor, services)
            _ = try? await services.persist("the end of a promotion of \(id)") {
                try await services.store.apply(signal, to: id, report)
            }
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
