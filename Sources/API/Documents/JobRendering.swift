import Downloads
import Engine
import HTTPServer
import HTTPTypes

/// The two responses to polls of one version of a job that is not running.
struct JobRendering: Sendable {
    let tag: JobETag
    let document: PreparedResponse
    let notModified: PreparedResponse

    /// nil if memory runs out.
    init?(_ view: JobView) {
        guard let document = PreparedResponse(view.response), let notModified = PreparedResponse(view.notModified)
        else { return nil }
        (tag, self.document, self.notModified) = (view.tag, document, notModified)
    }
}
