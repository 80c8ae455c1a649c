import Dispatch
import Downloads
import Engine
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Operations
import Storage

/// `/v1/jobs/{id}/file`: the finished file, whole or in ranges (RFC 9110, section 14).
struct FileRoutes: Sendable {
    let jobs: Jobs
    let time: any TimeSource
    /// nil: this service has all files.
    let remote: RemoteFiles?
    let signature: RelaySignature
    let objects: ObjectFiles

    var routes: [Route] {
        [
            Route(
                .get, "/v1/jobs/{id}/file", .scope(.read, of: .job), readsQuery: true, takesOneTimeToken: true,
                isRelayed: true, file)
        ]
    }

    private func file(_ context: RequestContext) async throws -> Response {
        let isRedirect = try context.query { query throws(Problem) in
            try query.choice("redirect", of: RedirectChoice.self) == .true
        }
        let job = try await jobs.job(context.job)
        guard let finish = job.state.finish else {
            throw Problem(
                .stateConflict, "Job \(job.id) is \(job.state.name.rawValue); its file exists after it has succeeded.")
        }
        if let object = finish.file.object {
            return try await objects.response(to: context.head, finish.file, object, redirects: isRedirect)
        }
        if isRedirect {
            throw Problem(.invalidValue, "`redirect` is for files in buckets, and this one is in a folder.")
        }
        // A request that was passed on ends here, so that two services never pass it on to each other.
        if context.caller !== Caller.peer, let remote, let owner = remote.owner(job) {
            return try await remote.response(to: context.head, from: owner, signature, at: time.now)
        }
        guard let opened = await jobs.openFile(of: finish) else {
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
            throw Problem.noRange(ofSize: opened.size)
        }
    }

    /// The strong entity tag: the hash and the time of the last write. Without a hash, or if the file may have changed
    /// since, it is the size and that time.
    private static func tag(_ file: FinishedFile, _ opened: OpenedFile) -> String {
        guard let sha256 = file.sha256, opened.isAsFinished else { return "\"\(opened.size)-\(opened.modified)\"" }
        return "\"\(sha256)-\(opened.modified)\""
    }
}

extension Problem {
    static func noRange(ofSize size: Int64) -> Problem {
        Problem(.rangeNotSatisfiable, "The file has \(size) bytes.", headers: [.contentRange: "bytes */\(size)"])
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

enum ContentDispositionHeader {
    /// The field value that names the file for all clients (RFC 6266): in ASCII for old clients, in UTF-8 (RFC 8187)
    /// for others.
    static func attachment(_ path: String) -> String {
        let name = PathComponents.last(of: path).name
        let ascii = String(name.map { $0.isASCII && !"\"\\%".contains($0) ? $0 : "_" })
        let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(asciiOnly)) ?? ""
        return "attachment; filename=\"\(ascii)\"; filename*=UTF-8''\(encoded)"
    }

    private static let asciiOnly = CharacterSet(charactersIn: Unicode.Scalar(0x21)...Unicode.Scalar(0x7E))
}

/// Several ranges of one file in one body (`multipart/byteranges`, RFC 9110, section 14.6).
struct MultipartByteRanges: Sendable {
    private let ranges: [ClosedRange<Int64>]
    private let heads: [[UInt8]]
    private let end: [UInt8]
    let contentType: String

    init(_ ranges: [ClosedRange<Int64>], of size: Int64, type: String) {
        // The boundary is random, so that the file does not contain it.
        let boundary = "fetchd-" + UUID().uuidString
        self.ranges = ranges
        heads = ranges.map { range in
            Array(
                """
                \r\n--\(boundary)\r
                Content-Type: \(type)\r
                Content-Range: bytes \(range.lowerBound)-\(range.upperBound)/\(size)\r
                \r\n
                """.utf8)
        }
        end = Array("\r\n--\(boundary)--\r\n".utf8)
        contentType = "multipart/byteranges; boundary=\(boundary)"
    }

    private var length: Int64 {
        Int64(heads.reduce(0) { $0 + $1.count } + end.count) + ranges.reduce(0) { $0 + Int64($1.count) }
    }

    /// The body. The file is read at the speed of the client. If the file is truncated meanwhile, the response ends
    /// early, and the client detects the missing bytes.
    func stream(from descriptor: Int32) -> ResponseStream {
        let stream = ResponseStream(length: length, bufferLimit: Int(Self.pieceBytes))
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        Task {
            // If the body ends before its announced length, the server closes the connection, and the client detects
            // the error.
            defer { stream.finish() }
            for (head, range) in zip(heads, ranges) {
                guard await send(head, to: stream), await send(range, of: file, to: stream) else { return }
            }
            _ = await send(end, to: stream)
        }
        return stream
    }

    private func send(_ bytes: [UInt8], to stream: ResponseStream) async -> Bool {
        guard await stream.room(for: bytes.count) else { return false }
        return stream.write(bytes)
    }

    private func send(_ range: ClosedRange<Int64>, of file: FileHandle, to stream: ResponseStream) async -> Bool {
        var position = range.lowerBound
        while position <= range.upperBound {
            let count = Int(min(Self.pieceBytes, range.upperBound - position + 1))
            guard let bytes = await read(count, at: position, of: file), await send(bytes, to: stream) else {
                return false
            }
            position += Int64(count)
        }
        return true
    }

    /// One piece waits for the client, and another one for its place.
    private static let pieceBytes: Int64 = 32 << 10
    /// The threads that read for all responses. They are serial queues, because concurrent ones share their threads with Swift's
    /// tasks, and have as many of them as reads wait for a slow disk.
    private static let readers = (0..<4).map { DispatchQueue(label: "fetchd.ranges.\($0)") }

    /// A response stays with its thread. So it waits for the other responses of the thread, and not for those of the others.
    private let reader = Self.readers[Int.random(in: Self.readers.indices)]

    private func read(_ count: Int, at position: Int64, of file: FileHandle) async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            reader.async {
                try? file.seek(toOffset: UInt64(position))
                let bytes = try? file.read(upToCount: count)
                continuation.resume(returning: bytes.flatMap { $0.count == count ? Array($0) : nil })
            }
        }
    }
}
