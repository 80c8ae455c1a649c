import Downloads
import Engine
import Formats
import HTTPServer
import HTTPTypes
import Storage

/// `GET /v1/jobs/{id}`: as it is now, or once it is no longer as the client knows it.
extension JobRoutes {
    /// A poll of a job that was polled before: from memory, without a task, and without a wait.
    func showImmediately(_ context: RequestContext) -> Answer? {
        let head = context.head
        guard !head.headers.contains(.prefer), head.query == nil, let cached = store.cachedJob(context.job) else {
            return nil
        }
        guard cached.job.state.name != .running else {
            return .now(answer(JobView(cached.job, engine), to: context.knownVersions))
        }
        return renderings.rendering(of: cached) { JobRendering(JobView(cached.job, engine)) }
            .map { .prepared($0.response(knowing: head.headers[.ifNoneMatch])) }
    }

    func show(_ context: RequestContext) async throws -> Response {
        guard let seconds = context.preferredWait, seconds > 0 else {
            return answer(JobView(try await store.job(context.job), engine), to: context.knownVersions)
        }
        var response = try await answerOnceChanged(context, within: .seconds(seconds))
        response.headers[.preferenceApplied] = "wait=\(seconds)"
        return response
    }

    private func answer(_ view: JobView, to versions: KnownVersions?) -> Response {
        versions?.include(view.tag) == true ? view.notModified : view.response
    }

    /// A request that names a version is answered when the job has another one, in any state. A request without a version
    /// is answered at the next change, and at once when no change will come by itself: the client may have missed the last.
    private func answerOnceChanged(_ context: RequestContext, within duration: Duration) async throws -> Response {
        let deadline = ContinuousClock.now + duration
        // Before looking, so that no change slips in between.
        let watcher = feed.watcher(of: [.job(context.job)])
        defer { feed.dismiss(watcher) }
        let first = JobView(try await store.job(context.job), engine)
        let versions = context.knownVersions
        // There is no version that `*` would not stand for.
        if case .any? = versions { return first.notModified }
        if versions == nil, first.job.state.isTerminal { return first.response }
        let known = versions ?? .tags([first.tag])
        var view = first
        while known.include(view.tag), await feed.sleep(watcher, until: deadline) == .rung {
            view = JobView(try await store.job(context.job), engine)
        }
        return versions == nil ? view.response : answer(view, to: versions)
    }
}
