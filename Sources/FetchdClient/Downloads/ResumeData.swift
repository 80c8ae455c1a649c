import Foundation

/// The content of the opaque resume data: the job that has the bytes, and the request to repeat.
struct ResumeData: Sendable, Codable {
    let job: String
    /// Nil if the process that started the task is gone: the service does not show the secrets of a request.
    let request: DownloadRequest?
    let url: String

    var encoded: Data? { try? JSONEncoder().encode(self) }

    init(job: String, request: DownloadRequest?, url: String) {
        self.job = job
        self.request = request
        self.url = url
    }

    init(_ data: Data) throws(FetchdError) {
        guard let content = try? JSONDecoder().decode(Self.self, from: data) else {
            throw .invalid("The resume data is not from this client.")
        }
        self = content
    }

    func repeatedRequest() throws(FetchdError) -> DownloadRequest {
        if let request { return request }
        guard let url = URL(string: url) else { throw .invalid("The resume data has no URL.") }
        return DownloadRequest(url: url)
    }
}
