import Downloads
import Engine
import Formats
import HTTPServer
import HTTPTypes
import Storage

/// `GET /v1/jobs/{id}`: returns the job at once, when it differs from the version that the client knows, or when it has ended.
extension JobRoutes {
    /// Answers a poll from the cache, without a task. nil when the job is not cached or the client may want to wait.
    func showImmediately(_ context: RequestContext) -> Answer? {
        let head = context.head
        guard !head.headers.contains(.prefer), head.query == nil, let cached = visibleCachedJob(context) else {
            return nil
        }
        let audience = context.caller.audience
        guard cached.job.state.name != .running else {
            return .now(answer(JobView(cached.job, engine, for: audience), to: context.knownVersions))
        }
        return kept.renderings(for: audience)
            .rendering(of: cached) { JobRendering(JobView(cached.job, engine, for: audience)) }
            .map { .prepared($0.response(knowing: head.headers[.ifNoneMatch])) }
    }

    /// The job if it is in the cache and the caller may see it.
    private func visibleCachedJob(_ context: RequestContext) -> CachedJob? {
        guard let cached = store.cachedJob(context.job), context.caller.visible.contain(cached.job.session) else {
            return nil
        }
        return cached
    }

    func show(_ context: RequestContext) async throws -> Response {
        let isForEnd = try Self.waitsForEnd(context)
        guard let seconds = context.preferredWait, seconds > 0 else {
            let view = JobView(try await store.job(context.job), engine, for: context.caller.audience)
            return answer(view, to: context.knownVersions)
        }
        var response = try await answerOnceChanged(context, isForEnd: isForEnd, within: .seconds(seconds))
        response.headers[.preferenceApplied] = "wait=\(seconds)"
        return response
    }

    /// - Throws: 422 for a wait for something else.
    private static func waitsForEnd(_ context: RequestContext) throws(Problem) -> Bool {
        guard context.head.query != nil else { return false }
        return try context.query { query throws(Problem) in try query.choice("until", of: Goal.self) == .ended }
    }

    private enum Goal: String, CaseIterable { case ended }

    private func answer(_ view: JobView, to versions: KnownVersions?) -> Response {
        versions?.include(view.tag) == true ? view.notModified : view.response
    }

    /// Waits with a task: for a job that is not in the cache.
    private func answerOnceChanged(
        _ context: RequestContext, isForEnd: Bool, within duration: Duration
    ) async throws -> Response {
        let deadline = ContinuousClock.now + duration
        // The watcher is registered before the first read, so that no change is missed in between.
        let watcher = feed.watcher(of: [Self.topic(of: context.job, isForEnd: isForEnd)])
        defer { feed.dismiss(watcher) }
        let audience = context.caller.audience
        var view = JobView(try await store.job(context.job), engine, for: audience)
        let wait = JobWait(knowing: context.knownVersions, view, isForEnd: isForEnd)
        var isLast = false
        while true {
            switch wait.verdict(on: view, isLast: isLast) {
            case .document: return view.response
            case .notModified: return view.notModified
            case .keepWaiting: break
            }
            isLast = try await feed.nextChange(watcher, until: deadline) != .rung
            if !isLast { view = JobView(try await store.job(context.job), engine, for: audience) }
        }
    }

    /// Waits without a task: for a job in the cache.
    func park(_ context: RequestContext) -> ParkedRequest.Wait? {
        guard let seconds = context.preferredWait, seconds > 0, let isForEnd = try? Self.waitsForEnd(context),
            let cached = visibleCachedJob(context)
        else { return nil }
        let (id, audience) = (context.job, context.caller.audience)
        let first = JobView(cached.job, engine, for: audience)
        let wait = JobWait(knowing: context.knownVersions, first, isForEnd: isForEnd)
        return ParkedRequest.Wait(
            topics: [Self.topic(of: id, isForEnd: isForEnd)], duration: .seconds(seconds),
            look: { isLast in
                guard let cached = store.cachedJob(id) else { return .askStore }
                return reply(to: wait, JobView(cached.job, engine, for: audience), seconds, isLast: isLast)
                    .map { .reply($0) } ?? .keepWaiting
            },
            askStore: { isLast in
                do {
                    let view = JobView(try await store.job(id), engine, for: audience)
                    return reply(to: wait, view, seconds, isLast: isLast)
                } catch {
                    return .response(Problem(error).response)
                }
            })
    }

    /// The end of a job is in the journal, so its progress wakes no request that waits for the end.
    private static func topic(of job: JobID, isForEnd: Bool) -> Topic { isForEnd ? .journal(.job(job)) : .job(job) }

    private func reply(to wait: JobWait, _ view: JobView, _ seconds: Int, isLast: Bool) -> Reply? {
        let verdict = wait.verdict(on: view, isLast: isLast)
        guard verdict != .keepWaiting else { return nil }
        let isModified = verdict == .document
        return kept.waitReplies.reply(
            for: JobWait.Key(
                job: view.job.id, audience: view.audience, tag: view.tag, seconds: seconds, isModified: isModified)
        ) {
            var response = isModified ? view.response : view.notModified
            response.headers[.preferenceApplied] = "wait=\(seconds)"
            return response
        }
    }
}

extension JobWait {
    fileprivate init(knowing versions: KnownVersions?, _ first: JobView, isForEnd: Bool) {
        self.init(
            knowing: versions, first: first.tag, isTerminal: first.job.state.isTerminal, isForEnd: isForEnd)
    }

    fileprivate func verdict(on view: JobView, isLast: Bool) -> Verdict {
        verdict(on: view.tag, isTerminal: view.job.state.isTerminal, isLast: isLast)
    }
}
