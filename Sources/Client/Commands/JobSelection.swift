import ArgumentParser

/// The jobs that a command acts on: jobs by identifier, all jobs of a session, or all jobs.
struct JobSelection: ParsableArguments {
    @Argument(help: "The identifiers of the jobs.", completion: .jobIDs)
    var ids: [String] = []

    @Option(
        name: .shortAndLong, help: ArgumentHelp("All jobs of this session.", valueName: "name"),
        completion: .sessionNames)
    var session: String?

    @Flag(help: "All jobs of all sessions.")
    var all = false

    func validate() throws {
        let ways = [!ids.isEmpty, session != nil, all].count { $0 }
        guard ways == 1 else { throw ValidationError("Give job identifiers, --session, or --all.") }
    }
}

extension JobSelection {
    /// Runs the action on the named jobs, or runs the corresponding action of the sessions.
    func perform(_ action: JobAction, _ service: RemoteService, _ console: Console) async throws {
        if let session { return try await action.run(onSessions: [session], service, console) }
        if all { return try await action.run(onAllSessionsOf: service, console) }
        try await action.run(on: ids, isList: ids.count > 1, service, console)
    }
}
