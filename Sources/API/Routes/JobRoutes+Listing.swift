import Downloads
import Formats
import HTTPServer
import Storage

/// `GET /v1/jobs`: a page of the list, newest first.
extension JobRoutes {
    /// A page that was read before, if no job has changed since.
    func listImmediately(_ context: RequestContext) -> Answer? {
        pages.page(at: context.head.target, version: store.jobsVersion).map { .prepared($0) }
    }

    func list(_ context: RequestContext) async throws -> Response {
        let version = store.jobsVersion
        let query = try context.query { query throws(Problem) in
            JobQuery(
                session: try query.name("session"), state: try query.choice("state", of: JobState.Name.self),
                tag: try query.value("tag"), limit: try query.limit(),
                before: try query.value("cursor").map(Self.position))
        }
        let page = try await store.jobs(query)
        let documents = documents.documents(of: page.cached) { job in
            var writer = JSONWriter()
            JobView(job, engine).writeDocument(to: &writer)
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
            pages.keep(prepared, at: context.head.target, version: version)
        }
        return response
    }

    private static func position(_ cursor: String) throws(Problem) -> JobID {
        let position = try Cursor.position(cursor)
        guard position.hasPrefix("job_") else { throw Cursor.unknown }
        return JobID(position)
    }
}
