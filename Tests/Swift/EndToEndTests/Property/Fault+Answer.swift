import HTTPSemantics
import TestKit

/// The effects of faults on requests and responses.
extension Fault {
    /// Changes the request to what a server with this fault understands.
    func misread(_ request: inout RecordedRequest, size: Int) {
        switch self {
        case .whole: request.range = nil
        case .shifted(let distance):
            guard let range = request.range else { return }
            request.range = (max(0, range.first + distance), range.last)
        case .openEnded: request.range?.last = nil
        case .shortened(let bytes):
            guard let range = request.range else { return }
            let last = min(range.last ?? size - 1, size - 1) - bytes
            if last >= range.first { request.range = (range.first, last) }
        case .unasked: request.range = request.range ?? (0, nil)
        default: break
        }
    }

    /// - Parameters:
    ///   - request: as received.
    ///   - file: the file of the response.
    func spoil(_ answer: inout OriginAnswer, to request: RecordedRequest, of file: ServedFile, _ version: FileVersion) {
        func meet(_ incident: OriginAnswer.Incident, _ offset: Int) {
            answer.incidents.append((offset % (answer.body.count + 1), incident))
        }
        switch self {
        case .closing(let offset): meet(.close, offset)
        case .resetting(let offset): meet(.reset, offset)
        case .stalling(let offset): meet(.stall, offset)
        case .hangingUp: answer.incidents.append((OriginAnswer.beforeHead, .close))
        case .silent: answer.incidents.append((OriginAnswer.beforeHead, .stall))
        case .garbage:
            answer.prelude = Array("\u{1}\u{2}no HTTP at all\r\n\r\n".utf8)
            answer.incidents.append((OriginAnswer.beforeHead, .close))
        case .interim: answer.prelude = Array("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".utf8)
        case .limited(let rate): answer.bytesPerSecond = rate
        case .status(let status, let retryAfter):
            answer = OriginAnswer(status: status, body: status == 204 ? [] : Self.errorPage)
            answer.set("Retry-After", retryAfter)
        case .page: answer = OriginAnswer(headers: [("Content-Type", "text/html")], body: Self.loginPage)
        case .redirect(let place): answer = OriginAnswer(status: 302, headers: [("Location", file.url(place))])
        case .loop: answer = OriginAnswer(status: 307, headers: [("Location", request.target)])
        case .unsatisfiable(let total): answer = refusal(total, request, version)
        case .whole, .shifted, .unasked, .shortened, .openEnded: break
        case .contentRange(let first, let last, let total): tell(&answer, first, last, total)
        case .falseStart(let distance):
            answer.framing = .chunked()
            tell(&answer, -distance, 0, 0)
        case .unknownTotal:
            if let text = answer.header("Content-Range") {
                answer.set("Content-Range", text.prefix { $0 != "/" } + "/*")
            }
        case .noContentRange: answer.set("Content-Range", nil)
        case .multipart:
            if answer.status == 206 { answer.set("Content-Type", "multipart/byteranges; boundary=x") }
        case .claimedLength(let more): answer.framing = .falseLength(answer.body.count + more)
        case .chunked: answer.framing = .chunked()
        case .untilClose: answer.framing = .untilClose
        case .excess(let bytes):
            answer.body += FileVersion.bytes(at: 0, count: bytes)
            answer.framing = .chunked()
        case .coded:
            answer.set("Content-Encoding", "gzip")
            answer.body = FileVersion.bytes(at: version.place + 1, count: answer.body.count)
        }
    }

    private func refusal(_ total: Total, _ request: RecordedRequest, _ version: FileVersion) -> OriginAnswer {
        var answer = OriginAnswer(status: 416, body: Self.errorPage)
        answer.set("ETag", version.etag)
        answer.set("Last-Modified", version.lastModified)
        answer.set("Date", version.date)
        switch total {
        case .truth: answer.set("Content-Range", "bytes */\(version.size)")
        case .offset: answer.set("Content-Range", "bytes */\(request.range?.first ?? 0)")
        case .other: answer.set("Content-Range", "bytes */\(version.size + 1)")
        case .none: break
        }
        return answer
    }

    /// Changes a valid `Content-Range` by the given differences.
    private func tell(_ answer: inout OriginAnswer, _ first: Int, _ last: Int, _ total: Int) {
        guard let text = answer.header("Content-Range"),
            case .bytes(let start, let end, let complete?)? = ContentRange(text)
        else { return }
        answer.set("Content-Range", "bytes \(Int(start) + first)-\(Int(end) + last)/\(Int(complete) + total)")
    }

    private static let errorPage = Array("<h1>Sorry</h1>\n".utf8)
    private static let loginPage = Array("<h1>Please accept our terms first.</h1>\n".utf8)
}

extension RecordedRequest {
    /// The single range of the request, as fetchd sends it; nil if there is none.
    var range: (first: Int, last: Int?)? {
        get {
            guard let text = header("Range"), text.hasPrefix("bytes=") else { return nil }
            let ends = text.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = Int(ends[0]) else { return nil }
            return (first, Int(ends[1]))
        }
        set {
            headers.removeAll { $0.name.lowercased() == "range" }
            guard let newValue else { return }
            headers.append(("Range", "bytes=\(newValue.first)-\(newValue.last.map(String.init) ?? "")"))
        }
    }
}
