import Base
import Downloads
import Formats
import HTTPServer
import HTTPTypes
import Operations
import Storage

/// `GET /v1/jobs/{id}`: returns the job at once, when it differs from the version that the client knows, or when it has ended.
extension JobRoutes {
    /// Responds from memory, without a task. nil when the job is not cached or the client may want to wait.
    func showImmediately(_ context: RequestContext) -> Answer? {
        guard !context.head.headers.contains(.prefer), context.head.query == nil,
            let cached = jobs.cachedJob(context.job), context.caller.visible.contain(cached.job.session)
        else { return nil }
        let kept = responses.kept(of: cached, for: context.caller.audience, knowing: context.ifNoneMatch)
        return kept.map { .prepared($0) } ?? Answer(response(to: context, cached.job))
    }

    /// Responds to a client that does not wait. `longPoll` responds to the others.
    func show(_ context: RequestContext) async throws -> Response {
        _ = try Self.waitsForEnd(context)
        return response(to: context, try await jobs.job(context.job)).value
    }

    private func response(to context: RequestContext, _ job: Job) -> CachedResponse {
        let view = JobView(job, jobs, for: context.caller.audience)
        let isModified = context.ifNoneMatch?.matches(view.tag) != true
        return responses.response(view, JobResponseCache.Variant(isModified: isModified))
    }

    /// - Throws: 422 for a wait for something else.
    private static func waitsForEnd(_ context: RequestContext) throws(Problem) -> Bool {
        guard context.head.query != nil else { return false }
        return try context.query { query throws(Problem) in try query.choice("until", of: Goal.self) == .ended }
    }

    private enum Goal: String, CaseIterable { case ended }

    // MARK: Waiting

    func longPoll(_ context: RequestContext) -> LongPoll.Wait? {
        guard let seconds = context.preferredWait, seconds > 0, let isForEnd = try? Self.waitsForEnd(context) else {
            return nil
        }
        let (id, caller, ifNoneMatch) = (context.job, context.caller, context.ifNoneMatch)
        // The wait begins with the first version that is read.
        let begun = Locked<JobWait?>(nil)
        @Sendable func response(_ job: Job, isLast: Bool) throws(StoreError) -> CachedResponse? {
            // As if there were no such job.
            guard caller.visible.contain(job.session) else { throw .noSuchJob(id) }
            let view = JobView(job, jobs, for: caller.audience)
            let wait = begun.withLock { begun in
                let wait = begun ?? JobWait(knowing: ifNoneMatch, view, isForEnd: isForEnd)
                begun = wait
                return wait
            }
            let decision = wait.decision(on: view.tag, isTerminal: view.job.state.isTerminal, isLast: isLast)
            guard decision != .keepWaiting else { return nil }
            return responses.response(view, .init(isModified: decision == .document, wait: seconds))
        }
        return LongPoll.Wait(
            // The end of a job is in the journal, so its progress wakes no request that waits for the end.
            topics: [isForEnd ? .journal(.job(id)) : .job(id)], duration: .seconds(seconds),
            check: { isLast in
                guard let cached = jobs.cachedJob(id) else { return .askStore }
                do throws(StoreError) {
                    return try response(cached.job, isLast: isLast).map { .response($0) } ?? .keepWaiting
                } catch {
                    return .response(.response(Problem(error).response))
                }
            },
            askStore: { isLast in try response(try await jobs.job(id), isLast: isLast) })
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

    /// The versions of the request; nil if it has none.
    private let versions: IfNoneMatch?
    /// The versions that do not end the wait.
    private let known: IfNoneMatch
    private let isForEnd: Bool

    /// - Parameters:
    ///   - first: the version at the beginning of the wait.
    ///   - isForEnd: whether the client waits for the end of the job.
    init(knowing versions: IfNoneMatch?, first: JobETag, isTerminal: Bool, isForEnd: Bool = false) {
        self.versions = versions
        self.isForEnd = isForEnd
        known = versions ?? (isTerminal ? .tags([]) : .tag(first))
    }

    fileprivate init(knowing versions: IfNoneMatch?, _ first: JobView, isForEnd: Bool) {
        self.init(knowing: versions, first: first.tag, isTerminal: first.job.state.isTerminal, isForEnd: isForEnd)
    }

    /// - Parameters:
    ///   - isTerminal: whether the job has ended.
    ///   - isLast: whether the wait is over.
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

/// `GET /v1/jobs`: a page of the list, newest first.
extension JobRoutes {
    /// A page that was read before, if no job has changed since.
    func listImmediately(_ context: RequestContext) -> Answer? {
        responses.page(at: context.pageKey, version: jobs.version).map { .prepared($0) }
    }

    func list(_ context: RequestContext) async throws -> Response {
        let version = jobs.version
        let query = try context.query { query throws(Problem) in
            var wanted = JobQuery(
                session: try query.name("session"), state: try query.choice("state", of: JobState.Name.self),
                tag: try query.value("tag"), limit: try query.limit(),
                before: try query.value("cursor").map(Self.position))
            wanted.visible = context.caller.visible
            return wanted
        }
        let page = try await jobs.page(query)
        let audience = context.caller.audience
        let documents = responses.documents(of: page.cached, for: audience) {
            JobView($0, jobs, for: audience).document
        }
        var list = DocumentList("jobs", capacity: documents.reduce(64) { $0 + $1.count + 1 })
        var next = page.next
        for (index, document) in documents.enumerated() where !list.add(document) {
            next = page.cached[index - 1].job.id
            break
        }
        let response = list.response(["next_cursor": .optional(next.map { Cursor.text($0.text) })])
        // The progress of a running job changes without a commit.
        if !page.cached.contains(where: { $0.job.state.name == .running }) {
            responses.keep(response, at: context.pageKey, version: version)
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
        JobResponseCache.PageKey(target: head.target, visible: caller.visible, audience: caller.audience)
    }
}
