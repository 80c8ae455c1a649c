import Downloads
import Storage

/// The latest progress of each running job, for streams: a slow reader gets fewer reports, not old ones.
struct ProgressReports {
    struct Report {
        let session: Name
        let frame: [UInt8]
        /// Rounds of the clock, counted.
        let round: Int
    }

    private var reports: [JobID: Report] = [:]
    private(set) var round = 0

    mutating func beginRound() { round += 1 }

    mutating func add(_ job: JobID, _ session: Name, _ frame: [UInt8]) {
        reports[job] = Report(session: session, frame: frame, round: round)
    }

    mutating func end(of job: JobID) { reports[job] = nil }

    /// Reports of the jobs that have none any more are dropped.
    mutating func keep(only running: Set<JobID>) { reports = reports.filter { running.contains($0.key) } }

    /// What has come since a round.
    func since(_ round: Int, _ query: EventQuery) -> [[UInt8]] {
        guard self.round > round else { return [] }
        let candidates = query.job.map { job in reports[job].map { [$0] } ?? [] } ?? Array(reports.values)
        return candidates.filter { report in
            report.round > round && (query.session == nil || query.session == report.session)
        }.map(\.frame)
    }
}
