import Downloads
import Engine
import Formats
import HTTPServer
import HTTPTypes

/// A job as one look shows it.
struct JobView {
    let job: Job
    let live: LiveProgress?
    let audience: Job.Audience

    init(_ job: Job, _ engine: Engine, for audience: Job.Audience) {
        self.job = job
        self.audience = audience
        // An attempt that has just ended may still be there.
        live = job.state.name == .running ? engine.progress(of: job.id) : nil
    }

    var tag: JobETag { JobETag(job, live: live) }

    var response: Response {
        var writer = JSONWriter()
        writeDocument(to: &writer)
        return .json(writer, headers: [.eTag: tag.text])
    }
    func writeDocument(to writer: inout JSONWriter) { job.writeDocument(for: audience, live: live, to: &writer) }

    var notModified: Response { Response(status: .notModified, headers: [.eTag: tag.text]) }
}
