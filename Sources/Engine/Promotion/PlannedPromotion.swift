import Downloads
import Storage

/// A promotion whose plan is committed.
struct PlannedPromotion {
    var job: JobID
    /// See `Job.admissions`.
    var admission: Int
    var promotion: Promotion
}

/// The plans of a round that were not stored.
struct PromotionRejections {
    /// The jobs whose destination was patched meanwhile.
    var stale: [JobID: Job] = [:]
    /// The jobs whose file does not fit into its session any more.
    var excess: [JobID: SizeLimit] = [:]
    /// The jobs that have another attempt by now.
    var superseded: Set<JobID> = []

    init(_ outcomes: [JobID: SignalOutcome] = [:]) {
        for (job, outcome) in outcomes {
            switch outcome {
            case .stale(let present): stale[job] = present
            case .excess(_, let limit): excess[job] = limit
            case .superseded: superseded.insert(job)
            case .done, .refused: break
            }
        }
    }

    func isAgainst(_ job: JobID) -> Bool { stale[job] != nil || excess[job] != nil || superseded.contains(job) }
}
