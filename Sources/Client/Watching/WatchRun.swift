import Locks

/// A watch as a command has it: shown in the way that fits, limited in time, and ended by Ctrl-C with a word on how to
/// come back.
struct WatchRun: Sendable {
    let service: RemoteService
    let console: Console
    let options: WaitingOptions
    var heard: (@Sendable (JSONText) async throws -> Void)?
    var isEndless = false
    /// Ctrl-C is how it is meant to end.
    var saysHowToComeBack = true

    private enum Way { case bars, lines, silence }

    private var way: Way {
        if options.quiet { return .silence }
        if console.errTerminal.isInteractive { return .bars }
        return console.isJSON ? .silence : .lines
    }

    /// Whether paths on standard output would not be what the same eyes have just read.
    var leavesPathsUntold: Bool { way != .bars || !console.outTerminal.isInteractive }

    func watch(_ scope: Watch.Scope, after position: Int64) async throws -> JobBoard {
        let board = Locked(JobBoard())
        do {
            try await Interruption.cancelling {
                try await Deadline.limiting(to: options.timeout) { try await show(board, scope, position) }
            }
        } catch let interruption as Interruption.Received {
            if saysHowToComeBack, !console.isJSON { try console.say(Self.farewell(board.withLock { $0 })) }
            throw interruption
        }
        let result = board.withLock { $0 }
        if way == .silence, !console.isJSON { try tellFailures(of: result) }
        return result
    }

    private func show(_ board: Locked<JobBoard>, _ scope: Watch.Scope, _ position: Int64) async throws {
        guard way == .bars else {
            let report: any WatchReport = way == .lines ? LineReport(console: console) : SilentReport()
            return try await watch(board, report).run(scope, after: position)
        }
        let report = BarReport(console, of: board)
        defer { try? report.ended() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await report.draw() }
            defer { group.cancelAll() }
            try await watch(board, report).run(scope, after: position)
        }
    }

    private func watch(_ board: Locked<JobBoard>, _ report: any WatchReport) -> Watch {
        Watch(service: service, board: board, report: report, heard: heard, isEndless: isEndless)
    }

    private func tellFailures(of board: JobBoard) throws {
        for job in board.jobs where job.hasEnded && !job.hasSucceeded {
            try LineReport(console: console).told(.moved(job))
        }
    }

    static func farewell(_ board: JobBoard) -> String {
        let rest = board.jobs.filter { !board.isOver($0) }
        guard !rest.isEmpty else { return "Nothing is left to wait for." }
        let them = rest.count <= 3 ? rest.map(\.id).joined(separator: " ") : ""
        let subject = rest.count == 1 ? "The download goes on in the service." : "The downloads go on in the service."
        return "\(subject) Come back with: fetchd watch\(them.isEmpty ? "" : " " + them)"
    }
}
