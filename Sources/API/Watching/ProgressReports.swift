import Downloads
import Storage

/// The latest progress of each running job, for streams. A slow reader gets fewer reports, but never outdated ones.
struct ProgressReports {
    struct Report {
        let session: Name
        let frame: [UInt8]
        /// The round of the clock in which the report was made.
        let round: Int
    }

    private var reports: [JobID: Report] = [:]
    private(set) var round = 0

    mutating func beginRound() { round += 1 }

    mutating func add(_ job: JobID, _ session: Name, _ frame: [UInt8]) {
        reports[job] = Report(session: session, frame: frame, round: round)
    }

    mutating func end(of job: JobID) { reports[job] = nil }

    /// Drops the reports of all other jobs.
    mutating func keep(only running: Set<JobID>) { reports = reports.filter { running.contains($0.key) } }

    /// The frames of the reports after a round that match the query.
    func since(_ round: Int, _ query: EventQuery) -> [[UInt8]] {
        guard self.round > round else { return [] }
        let candidates = query.job.map { job in reports[job].map { [$0] } ?? [] } ?? Array(reports.values)
        return candidates.filter { report in
            report.round > round && (query.session == nil || query.session == report.session)
                && query.visible.contain(report.session)
        }.map(\.frame)
    }
}
