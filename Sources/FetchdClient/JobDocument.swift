import Foundation

struct JobDocument: Sendable, Decodable {
    enum State: String, Decodable {
        case queued, running, waiting, paused, succeeded, failed, cancelled

        static let outstanding: [State] = [.queued, .running, .waiting, .paused]
        var isOutstanding: Bool { Self.outstanding.contains(self) }
    }

    struct Metadata: Decodable {
        let taskDescription: String?

        init(from decoder: any Decoder) throws {
            // Jobs of other clients may have any value there.
            let container = try? decoder.container(keyedBy: Name.self)
            taskDescription = try? container?.decodeIfPresent(String.self, forKey: .taskDescription)
        }

        private enum Name: String, CodingKey { case taskDescription }
    }

    struct Receipt: Decodable {
        let finalUrl: String
        let status: Int
    }

    let id: String
    let session: String
    let state: State
    let reason: String?
    let url: String
    let progress: DownloadProgress
    let challenge: AuthenticationChallenge.Demand?
    let failure: DownloadFailure?
    let file: FinishedFile?
    let receipt: Receipt?
    let priority: DownloadRequest.Priority?
    let tags: [String]
    let metadata: Metadata

    static let tagPrefix = "urlsession-task:"
    /// The name in the metadata of a job, after the conversion of the decoder.
    static let descriptionName = "task_description"

    /// The identifier that this client gave to the task, or the job's own if another client created it.
    var taskIdentifier: String {
        tags.first { $0.hasPrefix(Self.tagPrefix) }.map { String($0.dropFirst(Self.tagPrefix.count)) } ?? id
    }

    /// The result of a job that has ended; nil while it has not.
    var result: Result<FinishedFile, DownloadError>? {
        switch state {
        case .queued, .running, .waiting, .paused: return nil
        case .succeeded: return file.map { .success($0) }
        case .cancelled: return .failure(.cancelled(resumeData: resumeData))
        case .failed:
            let failure = failure ?? DownloadFailure(code: "unknown", message: "", status: nil)
            return .failure(.failed(failure, resumeData: resumeData))
        }
    }

    /// nil unless the job has succeeded.
    var response: DownloadResponse? {
        guard let file, let receipt else { return nil }
        return DownloadResponse(
            url: URL(string: receipt.finalUrl), statusCode: receipt.status, suggestedFilename: file.name,
            mimeType: file.contentType, expectedContentLength: file.size, sha256: file.sha256)
    }

    private var resumeData: Data? {
        progress.bytesDurable > 0 ? ResumeData(job: id, request: nil, url: url).encoded : nil
    }
}

struct JobPage: Decodable {
    let jobs: [JobDocument]
    let nextCursor: String?
}

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

/// The content of the opaque resume data: the job that has the bytes, and the request to repeat.
struct ResumeData: Sendable, Codable {
    let job: String
    /// Nil if the process that started the task is gone: the service does not show the secrets of a request.
    let request: DownloadRequest?
    let url: String

    var encoded: Data? { try? JSONEncoder().encode(self) }

    func repeatedRequest() throws(FetchdError) -> DownloadRequest {
        if let request { return request }
        guard let url = URL(string: url) else { throw .invalid("The resume data has no URL.") }
        return DownloadRequest(url: url)
    }
}

extension ResumeData {
    init(_ data: Data) throws(FetchdError) {
        guard let content = try? JSONDecoder().decode(Self.self, from: data) else {
            throw .invalid("The resume data is not from this client.")
        }
        self = content
    }
}
