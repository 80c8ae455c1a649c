import Downloads
import Engine
import Foundation
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/jobs/{id}/file`: the finished file, whole or one range of it (RFC 9110, section 14).
struct FileRoutes: Sendable {
    let store: Store
    let engine: Engine

    var routes: [Route] { [Route(.get, "/v1/jobs/{id}/file", file)] }

    private func file(_ call: Call) async throws -> Response {
        let job = try store.job(call.job)
        guard let finish = job.state.finish else {
            throw Problem(
                .stateConflict, "Job \(job.id) is \(job.state.name.rawValue); its file is there once it has succeeded.")
        }
        guard let opened = engine.openFile(of: finish) else {
            throw Problem(.fileGone, "\(finish.file.path) is no longer in the downloads folder.")
        }
        let tag = Self.tag(finish.file, size: opened.size, modified: opened.modified)
        let region = { (offset: Int64, length: Int64) in
            FileRegion(owning: opened.descriptor, offset: UInt64(offset), length: UInt64(length))
        }
        var headers: HTTPFields = [
            .acceptRanges: "bytes", .eTag: tag, .contentType: finish.file.contentType ?? "application/octet-stream",
            .contentDisposition: ContentDispositionHeader.attachment(finish.file.path),
            // The type is a stranger's word; no browser shall run what it guesses.
            .xContentTypeOptions: "nosniff",
        ]
        switch ByteRange.requested(call.head.headers, size: opened.size, tag: tag) {
        case .whole: return Response(status: .ok, headers: headers, body: .file(region(0, opened.size)))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(opened.size)"
            let body = region(range.lowerBound, range.upperBound - range.lowerBound + 1)
            return Response(status: .partialContent, headers: headers, body: .file(body))
        case .unsatisfiable:
            _ = region(0, 0)
            var problem = Problem(.rangeNotSatisfiable, "The file has \(opened.size) bytes.")
            problem.headers[.contentRange] = "bytes */\(opened.size)"
            throw problem
        }
    }

    /// Strong: the hash, or, where none was asked for, what a change would move.
    private static func tag(_ file: FinishedFile, size: Int64, modified: Int64) -> String {
        guard let sha256 = file.sha256, size == file.size else { return "\"\(size)-\(modified)\"" }
        return "\"\(sha256)-\(modified)\""
    }
}

/// The first and last byte that a `Range` asks for.
enum ByteRange: Equatable {
    case whole
    case part(ClosedRange<Int64>)
    case unsatisfiable

    /// Anything but one well-formed byte range under a matching `If-Range` is answered with the whole, as the RFC allows.
    static func requested(_ headers: HTTPFields, size: Int64, tag: String) -> ByteRange {
        guard let text = headers[.range], headers[.ifRange].map({ $0 == tag }) ?? true else { return .whole }
        guard text.hasPrefix("bytes=") else { return .whole }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return .whole
        }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let first?, let last?) where first <= last: return bounded(first, last, size)
        case (let first?, nil) where ends[1].isEmpty: return bounded(first, .max, size)
        case (nil, let suffix?) where ends[0].isEmpty:
            return suffix == 0 ? .unsatisfiable : bounded(max(0, size - suffix), .max, size)
        default: return .whole
        }
    }

    private static func bounded(_ first: Int64, _ last: Int64, _ size: Int64) -> ByteRange {
        first < size ? .part(first...min(last, size - 1)) : .unsatisfiable
    }
}

enum ContentDispositionHeader {
    /// The name for every client (RFC 6266): plain ASCII for the old, UTF-8 (RFC 8187) for the rest.
    static func attachment(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? "download"
        let ascii = String(name.map { $0.isASCII && !"\"\\%".contains($0) ? $0 : "_" })
        let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(asciiOnly)) ?? ""
        return "attachment; filename=\"\(ascii)\"; filename*=UTF-8''\(encoded)"
    }

    private static let asciiOnly = CharacterSet(charactersIn: Unicode.Scalar(0x21)...Unicode.Scalar(0x7E))
}
