import ArgumentParser
import Base
import Formats

struct WatchCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "watch", "Shows the progress of downloads until they have ended.",
        discussion: """
            On a terminal, the command shows live progress bars. Elsewhere it prints a line for each change of state to \
            standard error. Without jobs and without --session, it shows all unfinished downloads, and downloads that are \
            added meanwhile. It exits with status 0 if all downloads have succeeded, otherwise with status 1. Ctrl-C ends the \
            command, not the downloads.

            With --json, it prints a job document to standard output for each job, and again for each change of its state, \
            one on each line (JSON Lines).
            """,
        examples: "watch", "watch job_01HZX3K9V7Q2N4R8T6W0YB5CDE", "watch --session photos", "watch --timeout 60 --json"
    )

    @Argument(help: "The identifiers of the jobs.", completion: .jobIDs) var ids: [String] = []
    @Option("All jobs of this session.", "name", name: .shortAndLong, completion: .sessionNames) var session: String?

    @Flag(name: .shortAndLong, help: "Continue until Ctrl-C, even if all downloads have ended.")
    var follow = false

    @OptionGroup(title: "Waiting") var waiting: WaitingOptions
    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if !ids.isEmpty, session != nil { throw ValidationError("Give jobs or a session, not both.") }
        if !ids.isEmpty, follow {
            throw ValidationError("--follow works with a session or with all sessions, not with single jobs.")
        }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let deadline = Deadline(seconds: waiting.timeout?.seconds)
        let (position, scope) = try await deadline.limiting { [ids, session] in
            (try await service.lastEvent(), try await Self.scope(of: ids, session, service))
        }
        var run = WatchRun(service: service, console: console, isQuiet: waiting.quiet, deadline: deadline)
        run.isEndless = follow
        run.namesWatchCommand = !follow
        if console.isJSON { run.onDocument = { try console.print($0) } }
        let result = await run.watch(scope, after: position)
        if let error = result.error { throw error }
        let tracker = result.tracker
        if tracker.jobs.isEmpty, !console.isJSON {
            console.say("There are no unfinished downloads. To add one: fetchd add URL")
        }
        if let failure = tracker.failure { throw failure }
    }

    private static func scope(
        of ids: [String], _ session: String?, _ service: RemoteService
    ) async throws -> Watch.Scope {
        guard ids.isEmpty else {
            var jobs: [JobDocument] = []
            for id in ids { jobs.append(try await service.job(id).document(JobDocument.self)) }
            return .jobs(jobs)
        }
        // A session that does not exist would never have an event.
        try await service.requireSession(session)
        return .session(session)
    }
}

struct WaitingOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print no progress. Failures are still printed.") var quiet = false
    @Option("After this time, such as 90s or 8h, exit with status 124.", "duration") var timeout: DurationArgument?
}

/// Runs a watch for a command: chooses the report, applies the time limit, and ends on Ctrl-C with a message that says how to
/// watch again.
struct WatchRun: Sendable {
    let service: RemoteService
    let console: Console
    let isQuiet: Bool
    let deadline: Deadline
    /// Called with the document of a job after each change of its state. If it is nil, the documents are not read.
    var onDocument: (@Sendable (JSON) async throws -> Void)?
    var isEndless = false
    /// False if Ctrl-C is the normal end of the watch.
    var namesWatchCommand = true

    struct Result: Sendable {
        var tracker: JobTracker
        /// The error that ended the watch before the jobs ended.
        var error: (any Error)?
    }

    private enum Display { case bars, lines, silence }

    private var display: Display {
        if isQuiet { return .silence }
        if console.errTerminal.isInteractive { return .bars }
        return console.isJSON ? .silence : .lines
    }

    /// Whether the paths still have to be printed: bars on the same terminal have shown them already.
    var mustPrintPaths: Bool { display != .bars || !console.outTerminal.isInteractive }

    func watch(_ scope: Watch.Scope, after position: Int64) async -> Result {
        let tracker = Locked(JobTracker())
        var result = Result(tracker: JobTracker())
        do {
            try await InterruptSignals.cancelling {
                try await deadline.limiting { try await show(scope, after: position, in: tracker) }
            }
        } catch {
            result.error = error
        }
        result.tracker = tracker.withLock { $0 }
        if display == .silence, !console.isJSON { printFailures(of: result.tracker) }
        switch result.error {
        case is InterruptSignals.Received where namesWatchCommand && !console.isJSON:
            console.say(Self.detachMessage(result.tracker))
        case let error as ClientError where error.status == .overdue:
            result.error = ClientError.overdue(result.tracker.jobs.compactMap(JobDescription.neededAction))
        default: break
        }
        return result
    }

    private func show(_ scope: Watch.Scope, after position: Int64, in tracker: Locked<JobTracker>) async throws {
        let bars = display == .bars ? BarReport(console, of: tracker) : nil
        let report: any WatchReport =
            if let bars { bars } else if display == .lines { LineReport(console: console) } else {
                SilentReport(console: console)
            }
        let watch = Watch(
            service: service, tracker: tracker, report: report, onDocument: onDocument, isEndless: isEndless)
        guard let bars else { return try await watch.run(scope, after: position) }
        SuspendSignals.handle(suspend: bars.suspend, resume: bars.resume)
        defer {
            SuspendSignals.restoreDefaults()
            bars.drawOnce()
            bars.suspend()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bars.draw() }
            defer { group.cancelAll() }
            try await watch.run(scope, after: position)
        }
    }

    private func printFailures(of tracker: JobTracker) {
        let report = LineReport(console: console)
        for job in tracker.jobs where !job.hasSucceeded && tracker.hasEnded(job) {
            report.jobChanged(job.hasEnded ? .stateChanged(job) : .deleted(job))
        }
    }

    static func detachMessage(_ tracker: JobTracker) -> String {
        let rest = tracker.jobs.filter { !tracker.hasEnded($0) }
        guard !rest.isEmpty else { return "All downloads have ended." }
        let them = rest.count <= 3 ? rest.map(\.id).joined(separator: " ") : ""
        let subject =
            rest.count == 1 ? "The download continues in the service." : "The downloads continue in the service."
        return "\(subject) To watch again: fetchd watch\(them.isEmpty ? "" : " " + them)"
    }
}

/// The time limit of a command. It starts when the value is created.
struct Deadline: Sendable {
    private let end: ContinuousClock.Instant?

    /// - Parameter seconds: nil: no limit.
    init(seconds: Double?) { end = seconds.map { .now + .seconds($0) } }

    /// - Throws: `ClientError.overdue` if the body does not end in time.
    func limiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let end else { return try await body() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(until: end, clock: .continuous)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else { throw ClientError.overdue() }
            return value
        }
    }
}
