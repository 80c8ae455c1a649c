import Downloads
import Engine
import HTTPServer
import HTTPTypes

/// The two responses to polls of one version of a job that is not running.
struct JobRendering: Sendable {
    private let tag: JobETag
    private let tagText: String
    private let document: PreparedResponse
    private let notModified: PreparedResponse

    /// nil if the document is too large to be kept, or if memory runs out.
    init?(_ view: JobView) {
        let response = view.response
        guard case .bytes(let bytes) = response.body, bytes.count <= JobDocuments.largestKept,
            let document = PreparedResponse(response), let notModified = PreparedResponse(view.notModified)
        else { return nil }
        (tag, self.document, self.notModified) = (view.tag, document, notModified)
        tagText = tag.text
    }

    /// - Parameter known: the `If-None-Match` of the request.
    func response(knowing known: String?) -> PreparedResponse {
        guard let known, known == tagText || KnownVersions(known).include(tag) else { return document }
        return notModified
    }
}
