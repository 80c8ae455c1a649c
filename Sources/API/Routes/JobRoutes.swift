import Downloads
import Formats
import Foundation
import HTTPSemantics
import HTTPServer
import HTTPTypes
import Operations
import Storage

/// `/v1/jobs`: creates, reads, changes and deletes jobs, and carries out actions on them.
struct JobRoutes: Sendable {
    let jobs: Jobs
    let time: any TimeSource
    let allowsRehearsals: Bool
    let responses: JobResponseCache
    let many = ManyJobsActions()
    let answers: AnswerBudget

    init(jobs: Jobs, time: any TimeSource, allowsRehearsals: Bool, answers: AnswerBudget) {
        self.jobs = jobs
        self.time = time
        self.allowsRehearsals = allowsRehearsals
        self.answers = answers
        responses = JobResponseCache(answers)
    }

    var routes: [Route] {
        [
            Route(.post, "/v1/jobs", .scope(.jobs, of: .selection), body: .json, create),
            Route(
                .post, "/v1/jobs/batch", .scope(.jobs, of: .selection), body: .required(limit: JSONBody.batchLimit),
                isLarge: true, createBatch),
            Route(.post, "/v1/jobs/remove", .scope(.jobs, of: .selection), body: .json, remove),
            Route(
                .get, "/v1/jobs", .scope(.read, of: .selection), readsQuery: true, isLarge: true,
                immediate: listImmediately, list),
            Route(
                .get, "/v1/jobs/{id}", .scope(.read, of: .job), readsQuery: true, immediate: showImmediately,
                mayWait: true, longPoll: longPoll, show),
            Route(.patch, "/v1/jobs/{id}", .scope(.jobs, of: .job), body: .json, patch),
            Route(.delete, "/v1/jobs/{id}", .scope(.jobs, of: .job), readsQuery: true, delete),
            Route(.get, "/v1/jobs/{id}/resume-data", .scope(.jobs, of: .job), resumeData),
            Route(.post, "/v1/jobs/{id}/move", .scope(.jobs, of: .job), body: .json, move),
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
        return Route(.post, path, .scope(.jobs, of: .job), body: .optionalJSON) {
            try await act(action, $0)
        }
    }

    private func create(_ context: RequestContext) async throws -> Response {
        if let first = try await firstAnswer(context) { return first }
        let new = try context.body { reader throws(Problem) in try read(&reader, context.caller) }
        do {
            return try await create([new], context) { created in
                IdempotentResponse(
                    location: "jobs/\(created[0].id)",
                    body: JobView(created[0], jobs, for: context.caller.audience).document)
            }
        } catch let error as StoreError {
            var problem = Problem(error)
            switch error {
            case .unknownSession, .sessionFinishing: problem.pointer = "/session"
            case .noResumeData: problem.pointer = "/resume_from"
            default: break
            }
            throw problem
        }
    }

    /// The answer to the first request with the same key. A repeated request gets it also if the present settings of
    /// the service would refuse the request.
    private func firstAnswer(_ context: RequestContext) async throws -> Response? {
        guard let claim = try context.idempotencyClaim() else { return nil }
        return try await jobs.rememberedAnswer(to: claim).map(Response.created)
    }

    /// Stores the jobs and answers 201. A repeated request with the same `Idempotency-Key` gets the first answer.
    private func create(
        _ new: [NewJob], _ context: RequestContext, _ answer: @escaping @Sendable ([Job]) -> IdempotentResponse
    ) async throws -> Response {
        var creator = context.caller.creator
        creator.trace = context.trace
        guard let claim = try context.idempotencyClaim() else {
            return .created(answer(try await jobs.create(new, by: creator)))
        }
        return .created(try await jobs.create(new, by: creator, once: claim, answer: answer))
    }

    /// Creates all jobs of the batch or none.
    private func createBatch(_ context: RequestContext) async throws -> Response {
        if let first = try await firstAnswer(context) { return first }
        let new = try JSONBody.list("jobs", in: context.request.body, atMost: Self.largestBatch) {
            (reader) throws(Problem) in
            try read(&reader, context.caller)
        }
        // The answer repeats what the request says. Once the jobs are stored, it is sent in any case.
        let size = context.request.body.count + Self.usualDocument * new.count
        let memory = answers.share(of: context.caller.identity)
        guard memory.resize(to: size) else { throw Problem.tooManyAnswers }
        var response = try await create(new, context) { created in
            var writer = JSONWriter(capacity: Self.usualDocument * created.count)
            writer.object {
                $0.array("jobs", created) { JobView($0, jobs, for: context.caller.audience).writeDocument(to: &$1) }
            }
            return IdempotentResponse(location: nil, body: writer.bytes)
        }
        if case .bytes(let bytes) = response.body { memory.force(to: bytes.count) }
        response.memory = memory
        return response
    }

    private func read(_ reader: inout FieldReader, _ caller: Caller) throws(Problem) -> NewJob {
        let new = try NewJob(reading: &reader)
        try caller.requireWritable(new.session, at: reader.pointer(to: "session"))
        try requireNoRehearsal(new.spec, reader, at: new.spec.mirrors.isEmpty ? "url" : "urls")
        try requireFuture(new.spec.deadline, reader)
        return new
    }

    private func requireFuture(_ deadline: Date?, _ reader: FieldReader) throws(Problem) {
        guard let deadline, deadline <= time.now else { return }
        throw reader.invalid("deadline", "is in the past; the job could only fail")
    }

    private func requireNoRehearsal(_ spec: JobSpec, _ reader: FieldReader, at field: String) throws(Problem) {
        guard !allowsRehearsals, ([spec.url] + spec.mirrors).contains(where: Rehearsal.isRehearsal) else { return }
        throw reader.invalid(field, "is a rehearsal; start fetchd with --enable-rehearsals to allow it")
    }

    /// The job with its ETag, for a caller that may change it.
    func shown(_ job: Job) -> Response { JobView(job, jobs, for: .full).response }

    private func patch(_ context: RequestContext) async throws -> Response {
        let patch = try context.body { reader throws(Problem) in try JobPatch(reading: &reader) }
        let job = try await jobs.job(context.job)
        // The patch comes first, so that a wrong value is reported before a wrong revision.
        _ = try patch.applied(to: job.spec)
        return shown(
            try await jobs.patch(job, expecting: try context.expectedRevision()) { job in
                let spec = try patch.applied(to: job.spec)
                if spec.deadline != job.spec.deadline { try requireFuture(spec.deadline, FieldReader(JSONObject())) }
                if patch.fields.contains(.url) { try requireNoRehearsal(spec, FieldReader(JSONObject()), at: "url") }
                return (spec, patch.fields)
            })
    }

    /// The part with which an attempt can continue.
    private func resumeData(_ context: RequestContext) async throws -> Response {
        let job = try await jobs.job(context.job)
        guard let part = job.part, part.bytesDurable > 0 else {
            throw Problem(.notFound, "Job \(job.id) has no resume data.")
        }
        return .json(part.document)
    }

    private func delete(_ context: RequestContext) async throws -> Response {
        let deletesFile = try context.query { query throws(Problem) in
            try query.choice("file", of: FileChoice.self) == .delete
        }
        try await jobs.delete(context.job, deletesFile: deletesFile)
        return .noContent
    }

    private func act(_ action: JobSignal.Action, _ context: RequestContext) async throws -> Response {
        let request = try Self.request(action, context)
        let revision = try context.expectedRevision()
        switch try await jobs.perform(request, on: context.job, expecting: revision) {
        case .done(let job, _, _), .stale(let job), .superseded(let job), .excess(let job, _):
            return shown(job)
        case .refused(let job, let allowed): throw Problem(refused: job, action, allowed: allowed)
        }
    }

    /// The signal of an action, with its options.
    static func request(_ action: JobSignal.Action, _ context: RequestContext) throws(Problem) -> JobSignal {
        guard context.hasBody else { return action.signal() }
        let keepsPart = try context.body { reader throws(Problem) in
            action == .cancel ? try reader.bool("produce_resume_data") ?? false : false
        }
        return action.signal(keepsPart: keepsPart)
    }

    /// The size of most documents of jobs, in bytes.
    static let usualDocument = 800
    private static let largestBatch = 10_000
}

extension Response {
    fileprivate static func created(_ answer: IdempotentResponse) -> Response {
        var headers: HTTPFields = [.contentType: "application/json"]
        headers[.location] = answer.location
        return Response(status: .created, headers: headers, body: .bytes(answer.body + [0x0A]))
    }
}

/// `POST /v1/jobs/{id}/move`: another place in the queue.
extension JobRoutes {
    func move(_ context: RequestContext) async throws -> Response {
        let move = try context.body { reader throws(Problem) in try QueueMove(reading: &reader) }
        let revision = try context.expectedRevision()
        let place =
            switch move {
            case .place(let place): place
            case .position(let index): try await jobs.place(at: index, for: context.job)
            }
        return shown(try await jobs.move(context.job, to: place, expecting: revision))
    }
}

/// A part in the form of the response of `resume-data`.
extension Part {
    var document: JSON {
        [
            "url": .string(URLRule.withoutCredentials(url)), "etag": .optional(validators.etag),
            "last_modified": .optional(validators.lastModified), "bytes_expected": .optional(size),
            "ranges": .array(ranges.pairs.map { .array($0.map(JSON.integer)) }),
            "bytes_durable": .integer(bytesDurable),
            "expires_at": .optional(expiry.countdown?.end),
        ]
    }
}

/// Reads a new job from the request of a client.
extension NewJob {
    init(reading reader: inout FieldReader) throws(Problem) {
        let session = try reader.string("session") ?? Name.default.text
        guard let name = Name(session) else { throw reader.invalid("session", "cannot be a session's name") }
        let donor = try reader.string("resume_from").map { JobID($0) }
        let state = try reader.choice("state", of: FirstState.self)
        self.init(
            session: name, spec: try JobSpec(reading: &reader), resumeFrom: donor, isPaused: state == .paused)
    }

    /// The states in which a job can be created.
    private enum FirstState: String, CaseIterable { case queued, paused }
}
