import ArgumentParser

struct WatchCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows how downloads come along, until they are over.",
        discussion: """
            On a terminal these are live bars, elsewhere a line for each change of state, on standard error. Without \
            jobs and without --session it is everything that is outstanding, and what is added meanwhile. Ends with 0 when \
            all have succeeded, else with 1. Ctrl-C ends the watching, not the downloads.

            With --json, standard output has a line for each job and each change of its state: the whole job, as JSON \
            (JSON Lines).

            EXAMPLES:
              fetchd watch
              fetchd watch job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd watch --session photos
              fetchd watch --timeout 60 --json
            """)

    @Argument(help: "The jobs.", completion: .jobIDs)
    var ids: [String] = []

    @Option(
        name: .shortAndLong, help: ArgumentHelp("All of this session.", valueName: "name"), completion: .sessionNames)
    var session: String?

    @Flag(name: .shortAndLong, help: "Go on when everything is over, until Ctrl-C.")
    var follow = false

    @OptionGroup(title: "Waiting")
    var waiting: WaitingOptions

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func validate() throws {
        if !ids.isEmpty, session != nil { throw ValidationError("Name jobs or a session, not both.") }
        if !ids.isEmpty, follow { throw ValidationError("--follow is for sessions, or for all of them.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let deadline = Deadline(seconds: waiting.timeout)
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
            console.say("Nothing is under way. To add something: fetchd add URL")
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
        // Of a session that is not there nothing would ever be told.
        try await service.requireSession(session)
        return .session(session)
    }
}
