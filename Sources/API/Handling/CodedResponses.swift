import Base
import HTTPServer
import HTTPTypes

/// Responses with the content coding gzip, for clients that accept it (RFC 9110, section 8.4.1.3).
///
/// Only what a route marks as coded is compressed: lists, events, metrics, and the files of the page. No response that has a secret
/// is among them: the length of a compressed response can reveal a secret to an attacker who chooses a part of it (BREACH,
/// CVE-2013-3587).
extension Response {
    /// Bytes. Below, the fields of a coded response cost more than the coding saves.
    static let leastCoded = 1024
    /// Three times as fast as the usual level, and 15 % larger.
    private static let level: Int32 = 1

    /// The response in the coding that the client accepts, with `Vary`. Other statuses than 200, and streams, stay as they are.
    func coded(for head: RequestHead) -> Response { coded(asGzip: head.acceptsGzip, level: Self.level) }

    func coded(asGzip: Bool, level: Int32) -> Response {
        guard status == .ok, case .bytes(let bytes) = body, !headers.contains(.contentEncoding) else { return self }
        var response = self
        response.headers.vary(by: "Accept-Encoding")
        guard asGzip, bytes.count >= Self.leastCoded, let coded = ContentCoding.gzipped(bytes, level: level),
            coded.count < bytes.count
        else { return response }
        response.headers[.contentEncoding] = "gzip"
        response.body = .bytes(coded)
        return response
    }
}

extension HTTPFields {
    /// Adds a name to `Vary`, unless it is there.
    mutating func vary(by name: String) {
        guard let present = self[.vary] else { return self[.vary] = name }
        if !present.contains(name) { self[.vary] = present + ", " + name }
    }
}

/// A response that is the same for all clients, in both codings, each with its own tag.
struct StaticResponse: Sendable {
    private struct Form: Sendable {
        let tag: String?
        let whole: Response
        /// Rendered once, because it may be large, and needs no token. nil if memory runs out.
        let prepared: PreparedResponse?

        init(_ response: Response) {
            (tag, whole, prepared) = (response.headers[.eTag], response, PreparedResponse(response))
        }

        /// The fields of a 304 (RFC 9110, section 15.4.5).
        var notModified: Response {
            var headers = whole.headers
            headers[.contentType] = nil
            headers[.contentEncoding] = nil
            return Response(status: .notModified, headers: headers)
        }
    }

    private let plain: Form
    private let gzip: Form
    private static let smallest: Int32 = 9

    init(_ response: Response) {
        plain = Form(response.coded(asGzip: false, level: Self.smallest))
        var coded = response.coded(asGzip: true, level: Self.smallest)
        // The bytes of a strong tag are the same (section 8.8.3.3).
        if coded.headers.contains(.contentEncoding), let tag = coded.headers[.eTag] {
            coded.headers[.eTag] = tag.dropLast() + "-gzip\""
        }
        gzip = Form(coded)
    }

    private func form(for head: RequestHead) -> Form { head.acceptsGzip ? gzip : plain }

    func answer(to head: RequestHead) -> Answer? {
        let form = form(for: head)
        if let tag = form.tag, head.isMet(byTag: tag) { return .now(form.notModified) }
        return form.prepared.map(Answer.prepared)
    }

    func response(to head: RequestHead) -> Response {
        let form = form(for: head)
        return form.tag.map(head.isMet) == true ? form.notModified : form.whole
    }
}
