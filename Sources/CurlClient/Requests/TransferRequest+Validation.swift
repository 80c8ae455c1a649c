/// Validation of a request before it is sent. libcurl writes the texts of a request without encoding, so a line break
/// in one of them would add a header or a request.
extension TransferRequest {
    func validate() throws(TransferError) {
        try validateURL()
        try validateMethod()
        for header in headers { try Self.validate(header) }
        if let userAgent, userAgent.breaksLine { throw .protocolError("the user agent contains a line break") }
        try validateRange()
        try credentials?.validate()
        try proxy?.validate()
        try tls.validate()
    }

    private func validateURL() throws(TransferError) {
        guard !url.breaksLine else { throw .badURL("the URL contains a line break") }
        let parsed = try ParsedURL(url)
        guard let scheme = parsed.scheme else { throw .badURL("the URL has no scheme") }
        guard ["http", "https"].contains(where: scheme.equalsIgnoringASCIICase) else { throw .unsupportedProtocol }
        // libcurl would convert the name by the locale of the process, and accept names that contain a slash afterwards.
        guard let host = parsed.host, host.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw .badURL("its host is not in ASCII (RFC 5891)")
        }
    }

    private func validateMethod() throws(TransferError) {
        guard method.isHTTPToken else { throw .protocolError("the method is not a token") }
        // Responses to both methods have their own framing, which libcurl applies only if it selected the method
        // itself.
        guard method != "CONNECT" else { throw .protocolError("CONNECT is for proxies") }
        guard method != "HEAD" || body == nil else { throw .protocolError("a HEAD request has no body") }
    }

    private static func validate(_ header: (name: String, value: String)) throws(TransferError) {
        guard header.name.isHTTPToken else { throw .protocolError("a header's name is not a token") }
        guard !header.value.breaksLine else { throw .protocolError("the header \(header.name) contains a line break") }
        // A wrong length would leave bytes on the connection, and the next request would begin with them.
        let framing = ["Content-Length", "Transfer-Encoding"]
        guard !framing.contains(where: header.name.equalsIgnoringASCIICase) else {
            throw .protocolError("\(header.name) follows from the body and cannot be given")
        }
    }

    private func validateRange() throws(TransferError) {
        guard let rangeStart else {
            guard rangeEnd == nil else { throw .protocolError("a range needs a start") }
            return
        }
        guard rangeStart >= 0, rangeEnd.map({ $0 >= rangeStart }) ?? true else {
            throw .protocolError("a range must not be negative")
        }
    }

    /// `CURLOPT_RANGE` for this request.
    var rangeOption: String? {
        rangeStart.map { start in "\(start)-" + (rangeEnd.map(String.init) ?? "") }
    }

    func hasHeader(_ name: String) -> Bool {
        headers.contains { $0.name.equalsIgnoringASCIICase(name) }
    }

    /// The body with its framing. Methods that usually have a body send `Content-Length: 0` for an empty one (RFC 9110,
    /// 8.6).
    var framedBody: [UInt8]? {
        body ?? (["POST", "PUT", "PATCH"].contains(method) ? [] : nil)
    }

    /// The headers of the caller, without those that `credentials` or the credentials of the proxy replace.
    var unsupersededHeaders: [(name: String, value: String)] {
        headers.filter { header in
            let isSuperseded =
                credentials != nil && header.name.equalsIgnoringASCIICase("Authorization")
                || proxy?.username != nil && header.name.equalsIgnoringASCIICase("Proxy-Authorization")
            return !isSuperseded
        }
    }
}
