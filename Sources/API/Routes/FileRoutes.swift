import Downloads
import Engine
import Foundation
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/jobs/{id}/file`: the finished file, whole or in ranges (RFC 9110, section 14).
struct FileRoutes: Sendable {
    let store: Store
    let engine: Engine
    /// nil: this service has all files.
    let remote: RemoteFiles?
    let signature: RelaySignature

    var routes: [Route] {
        [
            Route(
                .get, "/v1/jobs/{id}/file", .scope(.read, of: .job), takesTicket: true, isRelayed: true, file)
        ]
    }

    private func file(_ context: RequestContext) async throws -> Response {
        let job = try await store.job(context.job)
        guard let finish = job.state.finish else {
            throw Problem(
                .stateConflict, "Job \(job.id) is \(job.state.name.rawValue); its file exists after it has succeeded.")
        }
        // A request that another node has passed on ends here, so that two nodes never pass it on to each other.
        if context.caller !== Caller.node, let remote, let node = remote.node(job) {
            return try await remote.response(to: context.head, fromNode: node, signature, at: store.time.now)
        }
        guard let opened = await engine.openFile(of: finish) else {
            throw Problem(.fileGone, "\(finish.file.path) is no longer in the downloads folder.")
        }
        return try Self.response(opened, finish.file, to: context.head)
    }

    private static func response(
        _ opened: OpenedFile, _ file: FinishedFile, to head: RequestHead
    ) throws(Problem) -> Response {
        let whole = FileRegion(of: opened.descriptor, length: UInt64(opened.size))
        let type = file.contentType ?? "application/octet-stream"
        let tag = tag(file, opened)
        var headers: HTTPFields = [
            .acceptRanges: "bytes", .eTag: tag, .contentType: type,
            .contentDisposition: ContentDispositionHeader.attachment(file.path),
            // The type comes from the download's server. A browser must not guess another type and run the content.
            .xContentTypeOptions: "nosniff",
        ]
        if head.isMet(byTag: tag) {
            let headers: HTTPFields = [.acceptRanges: "bytes", .eTag: tag]
            return Response(status: .notModified, headers: headers)
        }
        switch RequestedRanges(of: head, size: opened.size, tag: tag) {
        case .whole: return Response(status: .ok, headers: headers, body: .file(whole))
        case .parts(let ranges) where ranges.count == 1:
            headers[.contentRange] = "bytes \(ranges[0].lowerBound)-\(ranges[0].upperBound)/\(opened.size)"
            return Response(status: .partialContent, headers: headers, body: .file(whole.part(ranges[0])))
        case .parts(let ranges):
            let multipart = MultipartByteRanges(ranges, of: opened.size, type: type)
            headers[.contentType] = multipart.contentType
            let stream = multipart.stream(from: try whole.ownDescriptor())
            return Response(status: .partialContent, headers: headers, body: .stream(stream))
        case .unsatisfiable:
            var problem = Problem(.rangeNotSatisfiable, "The file has \(opened.size) bytes.")
            problem.headers[.contentRange] = "bytes */\(opened.size)"
            throw problem
        }
    }

    /// The strong entity tag: the hash and the time of the last write. Without a hash, or if the file may have changed
    /// since, it is the size and that time.
    private static func tag(_ file: FinishedFile, _ opened: OpenedFile) -> String {
        guard let sha256 = file.sha256, opened.isAsFinished else { return "\"\(opened.size)-\(opened.modified)\"" }
        return "\"\(sha256)-\(opened.modified)\""
    }
}

extension FileRegion {
    fileprivate func ownDescriptor() throws(Problem) -> Int32 {
        guard let descriptor = duplicateDescriptor() else {
            throw Problem(.unavailable, "fetchd has no file descriptor left. Try again in a moment.")
        }
        return descriptor
    }
}

extension RequestHead {
    /// `If-None-Match` (RFC 9110, section 13.1.2): the client has this version already.
    func isMet(byTag tag: String) -> Bool {
        guard let text = headers[.ifNoneMatch] else { return false }
        let tags = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return tags.contains { $0 == "*" || $0 == tag || $0 == "W/" + tag }
    }
}
