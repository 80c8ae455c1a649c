import Downloads
import Engine
import Formats
import HTTPServer
import HTTPTypes
import Storage

/// `GET /v1/jobs/{id}`: returns the job at once, or when it differs from the version that the client knows.
extension JobRoutes {
    /// A job with its live progress at one moment.
    struct View {
        let job: Job
        let live: LiveProgress?

        init(_ job: Job, _ engine: Engine) {
            self.job = job
            // The live progress of an attempt that has just ended may still exist.
            live = job.state.name == .running ? engine.progress(of: job.id) : nil
        }

        var tag: JobETag { JobETag(job, live: live) }

        var response: Response { .json(job.document(live: live), headers: [.eTag: tag.text]) }
        /// The body is not sent, but its length is (RFC 9110, section 8.6).
        var notModified: Response { Response(status: .notModified, headers: [.eTag: tag.text], body: response.body) }
    }

    /// Answers a poll from the cache, without a task. nil when the job is not cached or the client may want to wait.
    func showImmediately(_ context: RequestContext) -> Response? {
        guard context.head.headers[.prefer] == nil, context.head.query == nil, let job = store.cachedJob(context.job)
        else {
            return nil
        }
        return answer(View(job, engine), to: context.knownVersions)
    }

    func show(_ context: RequestContext) async throws -> Response {
        guard let seconds = context.preferredWait, seconds > 0 else {
            return answer(View(try await store.job(context.job), engine), to: context.knownVersions)
        }
        var response = try await answerOnceChanged(context, within: .seconds(seconds))
        response.headers[.preferenceApplied] = "wait=\(seconds)"
        return response
    }

    private func answer(_ view: View, to versions: KnownVersions?) -> Response {
        versions?.include(view.tag) == true ? view.notModified : view.response
    }

    /// A request with a version is answered as soon as the job has another version, in any state. A request without a
    /// version is answered at the next change; it is answered at once for a job that has ended, because the client may
    /// have missed its last change.
    private func answerOnceChanged(_ context: RequestContext, within duration: Duration) async throws -> Response {
        let deadline = ContinuousClock.now + duration
        // The watcher is registered before the first read, so that no change is missed in between.
        let watcher = feed.watcher(of: [.job(context.job)])
        defer { feed.dismiss(watcher) }
        let first = View(try await store.job(context.job), engine)
        let versions = context.knownVersions
        // `*` matches every version, so no change can end this wait.
        if case .any? = versions { return first.notModified }
        if versions == nil, first.job.state.isTerminal { return first.response }
        let known = versions ?? .tags([first.tag])
        var view = first
        while known.include(view.tag), await feed.sleep(watcher, until: deadline) == .rung {
            view = View(try await store.job(context.job), engine)
        }
        return versions == nil ? view.response : answer(view, to: versions)
    }
}
