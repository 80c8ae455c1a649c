import Downloads
import Formats
import HTTPServer
import Storage

/// `GET /v1/jobs`: a page of the list, newest first.
extension JobRoutes {
    /// A page that was read before, if no job has changed since.
    func listImmediately(_ context: RequestContext) -> Answer? {
        kept.pages.page(at: JobPages.Key(context), version: store.jobsVersion).map { .prepared($0) }
    }

    func list(_ context: RequestContext) async throws -> Response {
        let version = store.jobsVersion
        let query = try context.query { query throws(Problem) in
            var wanted = JobQuery(
                session: try query.name("session"), state: try query.choice("state", of: JobState.Name.self),
                tag: try query.value("tag"), limit: try query.limit(),
                before: try query.value("cursor").map(Self.position))
            wanted.visible = context.caller.visible
            return wanted
        }
        let page = try await store.jobs(query)
        let audience = context.caller.audience
        let documents = kept.documents(for: audience).documents(of: page.cached) { job in
            var writer = JSONWriter()
            JobView(job, engine, for: audience).writeDocument(to: &writer)
            return writer.bytes
        }
        var writer = JSONWriter(capacity: documents.reduce(64) { $0 + $1.count + 1 })
        writer.object { writer in
            writer.array("jobs", documents) { $1.value($0) }
            writer.member("next_cursor", page.next.map { Cursor.text($0.text) })
        }
        let response = Response.json(writer)
        // The progress of a running job changes without a commit.
        if !page.cached.contains(where: { $0.job.state.name == .running }), let prepared = PreparedResponse(response) {
            kept.pages.keep(prepared, at: JobPages.Key(context), version: version)
        }
        return response
    }

    private static func position(_ cursor: String) throws(Problem) -> JobID {
        let position = try Cursor.position(cursor)
        guard position.hasPrefix("job_") else { throw Cursor.unknown }
        return JobID(position)
    }
}

extension JobPages.Key {
    fileprivate init(_ context: RequestContext) {
        self.init(
            target: context.head.target, visible: context.caller.visible, audience: context.caller.audience)
    }
}
