import Downloads
import Engine
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/jobs`: creating downloads, reading them, acting on them.
struct JobRoutes: Sendable {
    let store: Store
    let engine: Engine

    var routes: [Route] {
        [
            Route(.post, "/v1/jobs", body: .required(limit: JSONBody.limit), create),
            Route(.post, "/v1/jobs/batch", body: .required(limit: JSONBody.batchLimit), createBatch),
            Route(.get, "/v1/jobs", list),
            Route(.get, "/v1/jobs/{id}", show),
            Route(.delete, "/v1/jobs/{id}", delete),
        ] + JobSignal.Action.allCases.map(actionRoute)
    }

    private func actionRoute(_ action: JobSignal.Action) -> Route {
        let path: StaticString =
            switch action {
            case .pause: "/v1/jobs/{id}/pause"
            case .resume: "/v1/jobs/{id}/resume"
            case .cancel: "/v1/jobs/{id}/cancel"
            case .retry: "/v1/jobs/{id}/retry"
            }
        return Route(.post, path, body: .optional(limit: JSONBody.limit)) { try await act(action, $0) }
    }

    private func create(_ call: Call) async throws -> Response {
        let new = try call.body(NewJob.init(reading:))
        do {
            guard let job = try await store.createJobs([new]).first else {
                throw Problem(.internalError, "The job was not stored.")
            }
            return .json(document(job), .created, headers: [.location: "/v1/jobs/\(job.id)"])
        } catch let error as StoreError {
            var problem = Problem(error)
            if case .unknownSession = error { problem.pointer = "/session" }
            throw problem
        }
    }

    /// All or none.
    private func createBatch(_ call: Call) async throws -> Response {
        let new = try call.body { reader throws(Problem) in
            guard let jobs = reader.value("jobs")?.arrayValue, (1...Self.largestBatch).contains(jobs.count) else {
                throw reader.invalid("jobs", "must be an array of 1 to \(Self.largestBatch) jobs")
            }
            return try Self.read(jobs)
        }
        let jobs = try await store.createJobs(new)
        return .json(["jobs": .array(jobs.map(document))], .created)
    }

    private static func read(_ jobs: [JSON]) throws(Problem) -> [NewJob] {
        var new: [NewJob] = []
        new.reserveCapacity(jobs.count)
        for (index, job) in jobs.enumerated() {
            var reader = try FieldReader(job, at: "/jobs/\(index)")
            new.append(try NewJob(reading: &reader))
            try reader.finish()
        }
        return new
    }

    private func list(_ call: Call) async throws -> Response {
        let query = try call.query { query throws(Problem) in
            JobQuery(
                session: try query.name("session"), state: try query.choice("state", of: JobState.Name.self),
                tag: try query.value("tag"), limit: try query.limit(),
                before: try query.value("cursor").map(Self.position))
        }
        let page = try store.jobs(query)
        return .json([
            "jobs": .array(page.jobs.map(document)), "next_cursor": .optional(page.next.map { Cursor.text($0.text) }),
        ])
    }

    private static func position(_ cursor: String) throws(Problem) -> JobID {
        let position = try Cursor.position(cursor)
        guard position.hasPrefix("job_") else { throw Cursor.unknown }
        return JobID(position)
    }

    private func show(_ call: Call) async throws -> Response {
        .json(document(try store.job(call.job)))
    }

    private func delete(_ call: Call) async throws -> Response {
        let deletesFile = try call.query { query throws(Problem) in
            try query.choice("file", of: FileChoice.self) == .delete
        }
        try await engine.delete(call.job, deletesFile: deletesFile)
        return .noContent
    }

    private enum FileChoice: String, CaseIterable { case keep, delete }

    private func act(_ action: JobSignal.Action, _ call: Call) async throws -> Response {
        if call.hasBody { try call.body { reader throws(Problem) in try Self.readOptions(of: action, &reader) } }
        switch try await engine.perform(action, on: call.job) {
        case .done(let job, _, _): return .json(document(job))
        case .refused(let job, let allowed): throw Problem(refused: job, action, allowed: allowed)
        }
    }

    private static func readOptions(of action: JobSignal.Action, _ reader: inout FieldReader) throws(Problem) {
        if action == .cancel { try reader.unsupported("produce_resume_data", unless: false) }
    }

    private func document(_ job: Job) -> JSON { job.document(live: engine.progress(of: job.id)) }

    private static let largestBatch = 10_000
}

extension NewJob {
    fileprivate init(reading reader: inout FieldReader) throws(Problem) {
        let session = try reader.string("session") ?? Name.default.text
        guard let name = Name(session) else { throw reader.invalid("session", "cannot be a session's name") }
        self.init(session: name, spec: try JobSpec(reading: &reader))
    }
}
