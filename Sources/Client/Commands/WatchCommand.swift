import ArgumentParser

struct WatchCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows the progress of downloads until they have ended.",
        discussion: """
            On a terminal, the command shows live progress bars. Elsewhere it prints a line for each change of state to \
            standard error. Without jobs and without --session, it shows all unfinished downloads, and downloads that are \
            added meanwhile. It exits with status 0 if all downloads have succeeded, otherwise with status 1. Ctrl-C ends the \
            command, not the downloads.

            With --json, it prints a job document to standard output for each job, and again for each change of its state, \
            one on each line (JSON Lines).

            EXAMPLES:
              fetchd watch
              fetchd watch job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd watch --session photos
              fetchd watch --timeout 60 --json
            """)

    @Argument(help: "The identifiers of the jobs.", completion: .jobIDs)
    var ids: [String] = []

    @Option(
        name: .shortAndLong, help: ArgumentHelp("All jobs of this session.", valueName: "name"),
        completion: .sessionNames)
    var session: String?

    @Flag(name: .shortAndLong, help: "Continue until Ctrl-C, even if all downloads have ended.")
    var follow = false

    @OptionGroup(title: "Waiting")
    var waiting: WaitingOptions

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func validate() throws {
        if !ids.isEmpty, session != nil { throw ValidationError("Give jobs or a session, not both.") }
        if !ids.isEmpty, follow {
            throw ValidationError("--follow works with a session or with all sessions, not with single jobs.")
        }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let deadline = Deadline(seconds: waiting.timeout?.seconds)
        let (ids, session) = (ids, session)
        let (position, scope) = try await deadline.limiting {
            (try await service.lastEvent(), try await Self.scope(of: ids, session, service))
        }
        var run = WatchRun(service: service, console: console, isQuiet: waiting.quiet, deadline: deadline)
        run.isEndless = follow
        run.saysHowToComeBack = !follow
        if console.isJSON { run.heard = { try console.print($0) } }
        let outcome = await run.watch(scope, after: position)
        if let trouble = outcome.trouble { throw trouble }
        let tracker = outcome.tracker
        if tracker.jobs.isEmpty, !console.isJSON {
            console.say("There are no unfinished downloads. To add one: fetchd add URL")
        }
        if !tracker.haveAllSucceeded { throw ExitCode.downloadFailed }
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
