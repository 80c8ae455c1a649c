import Downloads
import Engine
import Formats
import HTTPServer
import HTTPTypes

/// The values of `redirect` of `/v1/jobs/{id}/file`.
enum RedirectChoice: String, CaseIterable { case `true`, `false` }

/// The files of jobs that are objects of buckets. fetchd passes the bytes on while they arrive, because a client would repeat its
/// credentials after a redirect, and because the endpoint can be in a private network.
struct ObjectFiles: Sendable {
    let engine: Engine
    /// nil: no location is a bucket.
    let relay: FileRelay?

    func response(
        to head: RequestHead, _ file: FinishedFile, _ object: StoredObject, redirects: Bool
    ) async throws -> Response {
        if redirects { return try await redirect(to: file) }
        guard !head.isMet(byTag: object.etag) else {
            return Response(status: .notModified, headers: [.acceptRanges: "bytes", .eTag: object.etag])
        }
        var conditions = [(name: "If-Match", value: object.etag)]
        switch RequestedRanges(of: head, size: file.size, tag: object.etag) {
        case .parts(let ranges) where ranges.count == 1:
            conditions.append(("Range", "bytes=\(ranges[0].lowerBound)-\(ranges[0].upperBound)"))
        // A bucket sends one range at most.
        case .whole, .parts: break
        case .unsatisfiable: throw Problem.noRange(ofSize: file.size)
        }
        let (url, headers) = try await request { () async throws(EngineError) in
            try await engine.objectRequest(head.method.rawValue, for: file, headers: conditions)
        }
        return try answer(try await fetch(head.method, url, headers, file), file, object)
    }

    private func fetch(
        _ method: HTTPRequest.Method, _ url: String, _ headers: [(name: String, value: String)], _ file: FinishedFile
    ) async throws(Problem) -> Response {
        guard let relay else { throw Self.away(file, "no option declares its location") }
        do throws(FileRelayError) {
            return try await relay(method, url, headers)
        } catch {
            throw Self.away(file, error.reason)
        }
    }

    private func answer(_ response: Response, _ file: FinishedFile, _ object: StoredObject) throws(Problem) -> Response
    {
        guard [.ok, .partialContent].contains(response.status) else {
            // Nothing reads its body.
            if case .stream(let body) = response.body { body.finish() }
            switch response.status.code {
            case 404, 412: throw Problem(.fileGone, "\(file.path) is no longer in its bucket.")
            case let status: throw Self.away(file, "the bucket has answered with the status \(status)")
            }
        }
        var headers: HTTPFields = [
            .acceptRanges: "bytes", .eTag: object.etag, .contentType: file.contentType ?? "application/octet-stream",
            .contentDisposition: ContentDispositionHeader.attachment(file.path), .xContentTypeOptions: "nosniff",
        ]
        headers[.contentRange] = response.headers[.contentRange]
        return Response(status: response.status, headers: headers, body: response.body)
    }

    /// The URL opens the object to all who have it, for a minute.
    private func redirect(to file: FinishedFile) async throws -> Response {
        let disposition = ContentDispositionHeader.attachment(file.path)
        let url = try await request { () async throws(EngineError) in
            try await engine.objectURL(of: file, validFor: Self.secondsOfURL, disposition: disposition)
        }
        return Response(status: .temporaryRedirect, headers: [.location: url, .cacheControl: "no-store"])
    }

    private static let secondsOfURL = 60

    private func request<Value>(_ request: () async throws(EngineError) -> Value) async throws(Problem) -> Value {
        do throws(EngineError) {
            return try await request()
        } catch {
            throw .unavailable("\(error)", retryAfter: 5)
        }
    }

    private static func away(_ file: FinishedFile, _ why: String) -> Problem {
        .unavailable("The object \(file.path) cannot be sent now: \(why). Try again in a moment.", retryAfter: 5)
    }
}
