import Base
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
    let rules: NewJobRules
    let responses: JobResponseCache
    let underWay = ActionsUnderWay()
    let answers: ResponseBudget

    var routes: [Route] {
        [
            Route(.post, "/v1/jobs", .scope(.jobs, of: .selection), body: .json, create),
            Route(
                .post, "/v1/jobs/batch", .scope(.jobs, of: .selection), body: .required(limit: JSONBody.batchLimit),
                isLarge: true, createBatch),
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
        ] + JobSignal.Action.allCases.map(actionRoute) + ManyJobsAction.allCases.map(manyJobsRoute)
    }

    private func actionRoute(_ action: JobSignal.Action) -> Route {
        Route(.post, "/v1/jobs/{id}/\(action.rawValue)", .scope(.jobs, of: .job), body: .optionalJSON) {
            try await act(action, $0)
        }
    }

    private func create(_ context: RequestContext) async throws -> Response {
        if let first = try await firstAnswer(context) { return first }
        let new = try context.body { reader throws(Problem) in try rules.job(&reader, for: context.caller) }
        try await rules.requireAllowedLocations(of: [new], for: context.caller) { _ in "" }
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
        return try await jobs.rememberedAnswer(to: claim).map { .json($0, .created) }
    }

    /// Stores the jobs and answers 201. A repeated request with the same `Idempotency-Key` gets the first answer.
    private func create(
        _ new: [NewJob], _ context: RequestContext, _ answer: @escaping @Sendable ([Job]) -> IdempotentResponse
    ) async throws -> Response {
        var creator = context.caller.creator
        creator.trace = context.trace
        guard let claim = try context.idempotencyClaim() else {
            return .json(answer(try await jobs.create(new, by: creator)), .created)
        }
        return .json(try await jobs.create(new, by: creator, once: claim, answer: answer), .created)
    }

    private func createBatch(_ context: RequestContext) async throws -> Response {
        if let first = try await firstAnswer(context) { return first }
        let new = try JSONBody.list("jobs", in: context.request.body, atMost: Self.largestBatch) {
            (reader) throws(Problem) in
            try rules.job(&reader, for: context.caller)
        }
        try await rules.requireAllowedLocations(of: new, for: context.caller) { "/jobs/\($0)" }
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

    func shown(_ job: Job) async throws -> Response {
        JobView(job, jobs, queue: try await jobs.queueEntries(of: [job])[job.id], for: .full).response
    }

    private func patch(_ context: RequestContext) async throws -> Response {
        let patch = try context.body { reader throws(Problem) in try JobPatch(reading: &reader) }
        let job = try await jobs.job(context.job)
        // The patch comes first, so that a wrong value is reported before a wrong revision.
        let patched = NewJob(session: job.session, spec: try patch.applied(to: job.spec))
        if patch.fields.contains(.destination) {
            try await rules.requireAllowedLocations(of: [patched], for: context.caller) { _ in "" }
        }
        return try await shown(
            try await jobs.patch(job, expecting: try context.expectedRevision()) { job in
                let spec = try patch.applied(to: job.spec)
                if spec.deadline != job.spec.deadline {
                    try rules.requireFuture(spec.deadline, FieldReader(JSONObject()))
                }
                if patch.fields.contains(.url) {
                    try rules.requireNoRehearsal(spec, FieldReader(JSONObject()), at: "url")
                }
                if spec.destination.location != job.spec.destination.location {
                    try rules.locations.requireDeclared(spec.destination.location)
                }
                return (spec, patch.fields)
            })
    }

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
            return try await shown(job)
        case .refused(let job, let allowed): throw Problem(refused: job, action, allowed: allowed)
        }
    }

    static func request(_ action: JobSignal.Action, _ context: RequestContext) throws(Problem) -> JobSignal {
        let keepsPart = try context.optionalBody { reader throws(Problem) in
            action == .cancel ? try reader.bool("produce_resume_data") : nil
        }
        return action.signal(keepsPart: keepsPart ?? false)
    }

    static let usualDocument = 800
    private static let largestBatch = 10_000
}

extension JobRoutes {
    func move(_ context: RequestContext) async throws -> Response {
        let target = try context.body { reader throws(Problem) in try QueueTarget(reading: &reader) }
        return try await shown(
            try await jobs.move(context.job, to: target, expecting: try context.expectedRevision()))
    }
}

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

/// What is checked of a new job besides the form of its request.
struct NewJobRules: Sendable {
    let store: Store
    let allowsRehearsals: Bool
    let locations: LocationNames

    func job(_ reader: inout FieldReader, for caller: Caller, isChecked: Bool = true) throws(Problem) -> NewJob {
        let new = try NewJob(reading: &reader)
        try caller.requireWritable(new.session, at: reader.pointer(to: "session"))
        try requireNoRehearsal(new.spec, reader, at: new.spec.mirrors.isEmpty ? "url" : "urls")
        if isChecked {
            try requireFuture(new.spec.deadline, reader)
            try locations.requireDeclared(new.spec.destination.location, at: reader.pointer)
        }
        return new
    }

    /// A job that names no location gets that of its session.
    ///
    /// - Parameter pointer: to a job in the request, by its index.
    /// - Throws: 403 if a job would go to a location that the token may not use.
    func requireAllowedLocations(of new: [NewJob], for caller: Caller, _ pointer: (Int) -> String) async throws {
        guard caller.grant.locations != nil else { return }
        var ofSessions: [Name: Name] = [:]
        for (index, new) in new.enumerated() {
            if new.spec.destination.location == nil, ofSessions[new.session] == nil {
                let session = try? await store.session(new.session).session
                ofSessions[new.session] = session?.configuration.location ?? .default
            }
            let location = new.spec.destination.location ?? ofSessions[new.session] ?? .default
            try caller.requireAllowed(location, at: pointer(index) + LocationNames.pointer)
        }
    }

    func requireFuture(_ deadline: Date?, _ reader: FieldReader) throws(Problem) {
        guard let deadline, deadline <= store.time.now else { return }
        throw reader.invalid("deadline", "is in the past; the job could only fail")
    }

    func requireNoRehearsal(_ spec: JobSpec, _ reader: FieldReader, at field: String) throws(Problem) {
        guard !allowsRehearsals, ([spec.url] + spec.mirrors).contains(where: Rehearsal.isRehearsal) else { return }
        throw reader.invalid(field, "is a rehearsal; start fetchd with --enable-rehearsals to allow it")
    }
}

extension NewJob {
    init(reading reader: inout FieldReader) throws(Problem) {
        let name = try reader.string("session", "cannot be a session's name") { Name($0) } ?? .default
        let donor = try reader.string("resume_from").map { JobID($0) }
        let state = try reader.choice("state", of: FirstState.self)
        self.init(
            session: name, spec: try JobSpec(reading: &reader), resumeFrom: donor, isPaused: state == .paused)
    }

    private enum FirstState: String, CaseIterable { case queued, paused }
}

/// `GET /v1/jobs/{id}`: returns the job at once, when it differs from the version that the client knows, or when it has ended.
extension JobRoutes {
    /// Responds from memory, without a task. nil when the job is not cached or the client may want to wait.
    func showImmediately(_ context: RequestContext) -> Answer? {
        guard !context.head.headers.contains(.prefer), context.head.query == nil,
            let cached = jobs.cachedJob(context.job), context.caller.visible.contain(cached.job.session)
        else { return nil }
        if let kept = responses.kept(of: cached, for: context.caller.audience, knowing: context.ifNoneMatch) {
            return .prepared(kept)
        }
        return cached.job.state == .queued ? nil : Answer(response(to: context, cached.job))
    }

    func show(_ context: RequestContext) async throws -> Response {
        _ = try Self.waitsForEnd(context)
        let job = try await jobs.job(context.job)
        return response(to: context, job, try await jobs.queueEntries(of: [job])[job.id]).value
    }

    private func response(to context: RequestContext, _ job: Job, _ queue: QueueEntry? = nil) -> CachedResponse {
        let view = JobView(job, jobs, queue: queue, for: context.caller.audience)
        let isModified = context.ifNoneMatch?.matches(view.tag) != true
        return responses.response(view, JobResponseCache.Variant(isModified: isModified))
    }

    private static func waitsForEnd(_ context: RequestContext) throws(Problem) -> Bool {
        guard context.head.query != nil else { return false }
        return try context.query { query throws(Problem) in try query.choice("until", of: Goal.self) == .ended }
    }

    private enum Goal: String, CaseIterable { case ended }

    func longPoll(_ context: RequestContext) -> LongPoll.Wait? {
        guard let seconds = context.preferredWait, seconds > 0, let isForEnd = try? Self.waitsForEnd(context) else {
            return nil
        }
        let (id, caller, ifNoneMatch) = (context.job, context.caller, context.ifNoneMatch)
        // The wait begins with the first version that is read.
        let begun = Locked<JobWait?>(nil)
        @Sendable func decision(_ job: Job, isLast: Bool) throws(StoreError) -> JobWait.Decision {
            // As if there were no such job.
            guard caller.visible.contain(job.session) else { throw .noSuchJob(id) }
            let tag = JobView(job, jobs, for: caller.audience).tag
            let wait = begun.withLock { begun in
                let wait =
                    begun
                    ?? JobWait(
                        knowing: ifNoneMatch, first: tag, isTerminal: job.state.isTerminal, isForEnd: isForEnd)
                begun = wait
                return wait
            }
            return wait.decision(on: tag, isTerminal: job.state.isTerminal, isLast: isLast)
        }
        @Sendable func response(_ job: Job, _ decision: JobWait.Decision, queue: QueueEntry? = nil) -> CachedResponse? {
            guard decision != .keepWaiting else { return nil }
            let view = JobView(job, jobs, queue: queue, for: caller.audience)
            // The place in the queue may have changed, which ends no wait.
            let isModified = decision == .document || ifNoneMatch?.matches(view.tag) == false
            return responses.response(view, .init(isModified: isModified, wait: seconds))
        }
        return LongPoll.Wait(
            // The end of a job is in the journal, so its progress wakes no request that waits for the end.
            topics: [isForEnd ? .journal(.job(id)) : .job(id)], duration: .seconds(seconds),
            check: { isLast in
                guard let cached = jobs.cachedJob(id) else { return .askStore }
                do throws(StoreError) {
                    let decision = try decision(cached.job, isLast: isLast)
                    // The database knows its place in the queue.
                    if cached.job.state == .queued, decision != .keepWaiting { return .askStore }
                    return response(cached.job, decision).map { .response($0) } ?? .keepWaiting
                } catch {
                    return .response(.response(Problem(error).response))
                }
            },
            askStore: { isLast in
                let job = try await jobs.job(id)
                let decision = try decision(job, isLast: isLast)
                guard decision != .keepWaiting else { return nil }
                return response(job, decision, queue: try await jobs.queueEntries(of: [job])[id])
            })
    }
}

/// How a client waits for a change of a job, or for its end.
///
/// A request with a version is answered as soon as the job has another version, in any state. A request without a
/// version is answered at the next change; it is answered at once for a job that has ended, because the client may have
/// missed its last change. A request with `until=ended` is answered when the job has ended. Changes before the end do not answer it.
struct JobWait: Sendable {
    enum Decision: Equatable {
        case document, notModified, keepWaiting
    }

    private let versions: IfNoneMatch?
    private let known: IfNoneMatch
    private let isForEnd: Bool

    init(knowing versions: IfNoneMatch?, first: JobETag, isTerminal: Bool, isForEnd: Bool = false) {
        self.versions = versions
        self.isForEnd = isForEnd
        known = versions ?? (isTerminal ? .tags([]) : .tag(first))
    }

    func decision(on tag: JobETag, isTerminal: Bool, isLast: Bool) -> Decision {
        if isForEnd {
            guard isTerminal || isLast else { return .keepWaiting }
            return versions?.matches(tag) == true ? .notModified : .document
        }
        // `*` matches every version, so no change can end this wait.
        if case .any? = versions { return .notModified }
        guard known.matches(tag) else { return .document }
        guard isLast else { return .keepWaiting }
        return versions == nil ? .document : .notModified
    }
}

extension JobRoutes {
    /// A page that was read before, if no job has changed since.
    func listImmediately(_ context: RequestContext) -> Answer? {
        responses.page(at: context.pageKey, version: jobs.version).map { .prepared($0) }
    }

    func list(_ context: RequestContext) async throws -> Response {
        let version = jobs.version
        let query = try context.query { query throws(Problem) in
            var wanted = JobQuery(
                session: try query.name("session"), state: try query.choice("state", of: JobState.Kind.self),
                tag: try query.value("tag"), limit: try query.limit(),
                before: try query.value("cursor").map(Self.position))
            wanted.visible = context.caller.visible
            return wanted
        }
        let page = try await jobs.page(query)
        let audience = context.caller.audience
        let queue = try await jobs.queueEntries(of: page.jobs)
        let documents = responses.documents(of: page.cached, for: audience) {
            JobView($0, jobs, queue: queue[$0.id], for: audience).document
        }
        var list = DocumentList("jobs", capacity: documents.reduce(64) { $0 + $1.count + 1 })
        var next = page.next
        for (index, document) in documents.enumerated() where !list.add(document) {
            next = page.cached[index - 1].job.id
            break
        }
        let response = list.response(["next_cursor": .optional(next.map { Cursor.text($0.text) })]).coded(
            for: context.head)
        // The progress of a running job changes without a commit.
        if !page.cached.contains(where: { $0.job.state.name == .running }) {
            responses.keep(response, at: context.pageKey, version: version, hasQueued: !queue.isEmpty)
        }
        return response
    }

    private static func position(_ cursor: String) throws(Problem) -> JobID {
        let position = try Cursor.position(cursor)
        guard position.hasPrefix("job_") else { throw Cursor.unknown }
        return JobID(position)
    }
}

extension RequestContext {
    fileprivate var pageKey: JobResponseCache.PageKey {
        JobResponseCache.PageKey(
            target: head.target, isGzip: head.acceptsGzip, visible: caller.visible, audience: caller.audience)
    }
}
