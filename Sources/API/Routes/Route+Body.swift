import HTTPServer
import HTTPTypes

/// What a route accepts as the body of a request.
extension Route {
    /// A body needs the content type of JSON: a web page of another origin cannot send that type without a preflight
    /// request.
    func bodyLimit(_ head: RequestHead) throws(Problem) -> Int {
        switch body {
        case .none:
            if head.announcesBody { throw Problem(.bodyTooLarge, "This request takes no body.") }
            return 0
        case .unchecked(let limit): return limit
        case .optional(let limit), .required(let limit):
            if head.announcesBody { try requireJSON(head) }
            return limit
        }
    }

    private func requireJSON(_ head: RequestHead) throws(Problem) {
        let type = (head.headers[.contentType] ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        // RFC 7396 defines another content type for the body of a PATCH.
        guard type == "application/json" || (head.method == .patch && type == "application/merge-patch+json") else {
            throw Problem(.unsupportedMediaType, "Send the body as Content-Type: application/json.")
        }
    }
}

extension RequestHead {
    /// Whether a body follows the head. It can be empty in the end.
    var announcesBody: Bool { headers[.contentLength].map { $0 != "0" } ?? (headers[.transferEncoding] != nil) }
}
