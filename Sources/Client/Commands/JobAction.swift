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
