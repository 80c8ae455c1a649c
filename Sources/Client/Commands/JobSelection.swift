import ArgumentParser

/// Which jobs something is done to: some by name, those of a session, or those of all sessions.
struct JobSelection: ParsableArguments {
    @Argument(help: "The jobs.", completion: .jobIDs)
    var ids: [String] = []

    @Option(
        name: .shortAndLong, help: ArgumentHelp("All of this session.", valueName: "name"), completion: .sessionNames)
    var session: String?

    @Flag(help: "All of every session.")
    var all = false

    func validate() throws {
        let ways = [!ids.isEmpty, session != nil, all].count { $0 }
        guard ways == 1 else { throw ValidationError("Name jobs, or a session with --session, or --all.") }
    }
}

/// Something that is done to jobs, one after the other: one that refuses does not keep the others from it.
struct JobAction: Sendable {
    /// As the API calls it.
    let verb: String
    var body: JSONText?

    /// - Parameter isList: a list is printed, also of one: the caller does not know how many there are.
    func run(on ids: [String], isList: Bool, _ service: RemoteService, _ console: Console) async throws {
        var documents: [JSONText] = []
        // Printed also where one of several refuses.
        defer { if console.isJSON, isList { try? console.print(.object([("jobs", .array(documents))])) } }
        try await BestEffort.run(on: ids, console) { id in
            let answer = try await service.send("POST", RequestPath("jobs", id, verb), body.map { Array($0.bytes) })
            documents.append(JSONText(answer.body))
            if !console.isJSON { try tell(answer.document(JobDocument.self), console) }
        }
        if console.isJSON, !isList { try console.print(documents[0]) }
    }

    private func tell(_ job: JobDocument, _ console: Console) throws {
        try console.print("\(job.id) \(JobDescription.state(job))")
    }

    /// The actions that a session has, on all of its jobs at once.
    func run(
        onSessions names: [String], isList: Bool = false, _ service: RemoteService, _ console: Console
    ) async throws {
        var documents: [JSONText] = []
        for name in names {
            let path = RequestPath("sessions", name, verb)
            let answer = try await service.send("POST", path, body.map { Array($0.bytes) })
            documents.append(JSONText(answer.body))
            guard !console.isJSON else { continue }
            let session = try answer.document(SessionDocument.self)
            try console.print("\(session.id): \(SessionDescription.counts(session))")
        }
        guard console.isJSON else { return }
        try console.print(isList ? .object([("sessions", .array(documents))]) : documents[0])
    }
}

extension JobSelection {
    /// By name, or by the sessions' own actions.
    func perform(_ action: JobAction, _ service: RemoteService, _ console: Console) async throws {
        if let session { return try await action.run(onSessions: [session], service, console) }
        if all { return try await action.run(onSessions: service.sessionNames(), isList: true, service, console) }
        try await action.run(on: ids, isList: ids.count > 1, service, console)
    }
}
