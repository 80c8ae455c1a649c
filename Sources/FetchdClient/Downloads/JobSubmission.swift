import Foundation

/// The body of `POST /v1/jobs`.
struct JobSubmission: Sendable, Encodable {
    let request: DownloadRequest
    let session: String
    /// The job is found by this tag, also after the `Idempotency-Key` has expired.
    let tag: String
    let resumeFrom: String?

    private enum Name: String, CodingKey { case session, tags, resumeFrom }

    func encode(to encoder: any Encoder) throws {
        try request.encode(to: encoder)
        var container = encoder.container(keyedBy: Name.self)
        try container.encode(session, forKey: .session)
        try container.encode((request.tags ?? []) + [tag], forKey: .tags)
        try container.encodeIfPresent(resumeFrom, forKey: .resumeFrom)
    }
}
