import HTTPTypes

/// `If-Match`: the job must not have changed since (RFC 9110, section 13.1.1). It is checked after the body, so that a
/// malformed request is refused as malformed.
extension RequestContext {
    /// The revision that the client knows, which is what is compared; nil where it does not care.
    ///
    /// - Throws: 412 for what is not the ETag of any job.
    func expectedRevision() throws(Problem) -> Int? {
        guard let field = head.headers[.ifMatch]?.trimmingCharacters(in: .whitespaces), field != "*" else { return nil }
        guard let tag = JobETag(field) else {
            throw Problem(
                .preconditionFailed,
                "If-Match is '\(field)'; the ETag of a job is such as \"7.1048576\", one at a time.")
        }
        return tag.revision
    }
}
