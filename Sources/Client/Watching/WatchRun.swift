import Locks

/// A watch as a command has it: shown in the way that fits, limited in time, and ended by Ctrl-C with a word on how to
/// come back.
struct WatchRun: Sendable {
    let service: RemoteService
    let console: Console
    let isQuiet: Bool
    let deadline: Deadline
    var heard: (@Sendable (JSONText) async throws -> Void)?
    var isEndless = false
    /// Ctrl-C is how it is meant to end.
    var saysHowToComeBack = true

    /// How the jobs were when the watch ended.
    struct Outcome: Sendable {
        var tracker: JobTracker
        /// Why it ended before they were over.
        var trouble: (any Error)?
    }

    private enum Way { case bars, lines, silence }

    private var way: Way {
        if isQuiet { return .silence }
        if console.errTerminal.isInteractive { return .bars }
        return console.isJSON ? .silence : .lines
    }

    /// Whether paths on standard output would not be what the same eyes have just read.
    var leavesPathsUntold: Bool { way != .bars || !console.outTerminal.isInteractive }

    func watch(_ scope: Watch.Scope, after position: Int64) async -> Outcome {
        let tracker = Locked(JobTracker())
        var outcome = Outcome(tracker: JobTracker())
        do {
            try await Interruption.cancelling {
                try await deadline.limiting { try await show(tracker, scope, position) }
            }
        } catch {
            outcome.trouble = error
        }
        outcome.tracker = tracker.withLock { $0 }
        if way == .silence, !console.isJSON { tellFailures(of: outcome.tracker) }
        switch outcome.trouble {
        case is Interruption.Received where saysHowToComeBack && !console.isJSON:
            console.say(Self.farewell(outcome.tracker))
        case let error as ClientError where error.status == .overdue:
            outcome.trouble = ClientError.overdue(outcome.tracker.jobs.compactMap(JobDescription.neededAction))
        default: break
        }
        return outcome
    }

    private func show(_ tracker: Locked<JobTracker>, _ scope: Watch.Scope, _ position: Int64) async throws {
        switch way {
        case .lines: try await watch(tracker, LineReport(console: console)).run(scope, after: position)
        case .silence: try await watch(tracker, SilentReport(console: console)).run(scope, after: position)
        case .bars: try await draw(tracker, scope, position)
        }
    }

    private func draw(_ tracker: Locked<JobTracker>, _ scope: Watch.Scope, _ position: Int64) async throws {
        let report = BarReport(console, of: tracker)
        Suspension.hear(leaving: report.left, returning: report.returned)
        defer {
            Suspension.leave()
            report.drawOnce()
            report.left()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await report.draw() }
            defer { group.cancelAll() }
            try await watch(tracker, report).run(scope, after: position)
        }
    }

    private func watch(_ tracker: Locked<JobTracker>, _ report: any WatchReport) -> Watch {
        Watch(service: service, tracker: tracker, report: report, heard: heard, isEndless: isEndless)
    }

    private func tellFailures(of tracker: JobTracker) {
        let report = LineReport(console: console)
        for job in tracker.jobs where !job.hasSucceeded && tracker.isOver(job) {
            report.told(job.hasEnded ? .moved(job) : .deleted(job))
        }
    }

    static func farewell(_ tracker: JobTracker) -> String {
        let rest = tracker.jobs.filter { !tracker.isOver($0) }
        guard !rest.isEmpty else { return "Nothing is left to wait for." }
        let them = rest.count <= 3 ? rest.map(\.id).joined(separator: " ") : ""
        let subject = rest.count == 1 ? "The download goes on in the service." : "The downloads go on in the service."
        return "\(subject) Come back with: fetchd watch\(them.isEmpty ? "" : " " + them)"
    }
}
