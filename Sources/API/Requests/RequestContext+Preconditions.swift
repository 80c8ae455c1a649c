import HTTPTypes
import Storage

/// `If-Match`: the request applies only if the job or session has not changed since (RFC 9110, section 13.1.1). The field is
/// checked after the body, so that a malformed request gets the error for its body.
extension RequestContext {
    /// The revision that the client expects; nil without the field, and for `*`. Only revisions are compared, not
    /// progress.
    ///
    /// - Throws: 412 if the field is not the ETag of a job or session, 400 if it is empty.
    func expectedRevision() throws(Problem) -> Int? {
        guard let field = head.headers[.ifMatch]?.trimmingCharacters(in: .whitespaces), field != "*" else { return nil }
        guard !field.isEmpty else {
            throw Problem(.malformedRequest, "If-Match is empty; it takes one ETag, such as \"7.1048576\".")
        }
        guard let tag = JobETag(field) else {
            throw Problem(
                .preconditionFailed,
                "If-Match is '\(field)'; it takes one ETag, such as \"7.1048576\".")
        }
        return tag.revision
    }

    /// What the client expects of a session that need not exist.
    ///
    /// - Throws: as `expectedRevision`.
    func sessionExpectation() throws(Problem) -> SessionExpectation {
        if let revision = try expectedRevision() { return .revision(revision) }
        return head.headers[.ifMatch] == nil ? .nothing : .existence
    }
}
