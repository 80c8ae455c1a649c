import ArgumentParser

/// An action on jobs, one after the other. If one job refuses the action, the action continues with the others.
struct JobAction: Sendable {
    /// The name of the action in the API.
    let verb: String
    var body: JSONText?

    /// - Parameter isList: print a list even for one job, because the user did not choose the number of jobs.
    func run(on ids: [String], isList: Bool, _ service: RemoteService, _ console: Console) async throws {
        var documents: [JSONText] = []
        // The list is also printed if one of the jobs refuses the action.
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

    /// Runs the action that a session offers for all its jobs at once.
    func run(onSessions names: [String], _ service: RemoteService, _ console: Console) async throws {
        for name in names {
            let answer = try await run(onSession: name, service)
            try console.isJSON
                ? console.print(JSONText(answer.body)) : tell(answer.document(SessionDocument.self), console)
        }
    }

    /// Runs the action on all jobs. It names the sessions that had outstanding jobs.
    func run(onAllSessionsOf service: RemoteService, _ console: Console) async throws {
        var (documents, hasActed): ([JSONText], Bool) = ([], false)
        for before in try await service.sessions() {
            let answer = try await run(onSession: before.id, service)
            documents.append(JSONText(answer.body))
            guard !console.isJSON, before.hasOutstandingJobs else { continue }
            try tell(answer.document(SessionDocument.self), console)
            hasActed = true
        }
        if console.isJSON { return try console.print(.object([("sessions", .array(documents))])) }
        if !hasActed { console.say("No job is outstanding.") }
    }

    private func run(onSession name: String, _ service: RemoteService) async throws(ClientError) -> Answer {
        try await service.send("POST", RequestPath("sessions", name, verb), body.map { Array($0.bytes) })
    }

    private func tell(_ session: SessionDocument, _ console: Console) throws {
        try console.print("\(session.id): \(SessionDescription.counts(session))")
    }
}
