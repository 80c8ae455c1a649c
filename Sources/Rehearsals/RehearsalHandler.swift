import Downloads
import HTTPServer
import HTTPTypes

/// Responds to each request by its target alone. The origin keeps no state, so a repeated rehearsal has the same result
/// for every client.
struct RehearsalHandler: RequestHandler {
    func admit(_ head: RequestHead) -> Admission {
        .accept(maxBodyBytes: 0) { request in .now(answer(to: request.head)) }
    }

    func malformed(_ fault: RequestFault, _ head: RequestHead?) -> Response { .text(fault.status, fault.description) }

    private func answer(to head: RequestHead) -> Response {
        guard head.method == .get || head.method == .head else {
            return .text(.methodNotAllowed, "A rehearsal answers GET and HEAD.", [.allow: "GET, HEAD"])
        }
        do throws(RehearsalFault) {
            let rehearsal = try Rehearsal(parsing: "\(Rehearsal.scheme):\(head.target.dropFirst())")
            return answer(rehearsal, to: head)
        } catch {
            return .text(.badRequest, "The rehearsal \(error).")
        }
    }

    private func answer(_ rehearsal: Rehearsal, to head: RequestHead) -> Response {
        let refusal = rehearsal.refusal(
            hasRange: head.method == .get && head.headers[.range] != nil,
            isAuthorized: head.headers[.authorization] != nil)
        if let refusal { return refuse(rehearsal, with: refusal) }
        let tag = "\"rehearsal-\(rehearsal.size)\""
        let fields: HTTPFields = [
            .acceptRanges: "bytes", .eTag: tag, .contentType: "application/octet-stream",
        ]
        switch RequestedRanges(of: head, size: rehearsal.size, tag: tag) {
        case .parts(let ranges) where ranges.count == 1:
            let range = ranges[0]
            let body = RehearsalBody(rehearsal: rehearsal, range: Range(range))
            var fields = fields
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(rehearsal.size)"
            return Response(status: .partialContent, headers: fields, body: body.answering(head.method))
        // A server may respond to several ranges with the complete file.
        case .whole, .parts:
            let body = RehearsalBody(rehearsal: rehearsal, range: 0..<rehearsal.size)
            return Response(status: .ok, headers: fields, body: body.answering(head.method))
        case .unsatisfiable:
            return .text(
                .rangeNotSatisfiable, "The file has \(rehearsal.size) bytes.",
                [.contentRange: "bytes */\(rehearsal.size)"])
        }
    }

    private func refuse(_ rehearsal: Rehearsal, with status: Int) -> Response {
        var fields: HTTPFields = [:]
        if status == 401 { fields[.wwwAuthenticate] = "Basic realm=\"rehearsal\"" }
        if let seconds = rehearsal.retryAfter { fields[.retryAfter] = "\(seconds)" }
        return .text(HTTPResponse.Status(code: status), "Status \(status), as rehearsed.", fields)
    }
}

extension Response {
    fileprivate static func text(
        _ status: HTTPResponse.Status, _ line: String, _ headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = "text/plain; charset=utf-8"
        return Response(status: status, headers: headers, body: .bytes(Array("\(line)\n".utf8)))
    }
}
