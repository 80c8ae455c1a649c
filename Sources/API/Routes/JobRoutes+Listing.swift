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
        var list = DocumentList("jobs", capacity: documents.reduce(64) { $0 + $1.count + 1 })
        var next = page.next
        for (index, document) in documents.enumerated() where !list.add(document) {
            next = page.cached[index - 1].job.id
            break
        }
        let response = list.response(["next_cursor": .optional(next.map { Cursor.text($0.text) })])
        // The progress of a running job changes without a commit.
        if !page.cached.contains(where: { $0.job.state.name == .running }) {
            kept.pages.keep(response, at: JobPages.Key(context), version: version)
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
