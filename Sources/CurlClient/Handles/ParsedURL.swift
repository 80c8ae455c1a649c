import CCurl

/// A URL as libcurl reads it. Judging and resolving with the parser that will also connect leaves no gap between what
/// was checked and what is done.
struct ParsedURL: ~Copyable {
    private let handle: OpaquePointer

    init(_ text: String) throws(TransferError) {
        guard let handle = curl_url() else {
            throw .other(code: Int32(CURLUE_OUT_OF_MEMORY.rawValue), message: "no memory for a URL")
        }
        // Schemes are judged afterwards, for an error that names the reason.
        let code = curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME))
        guard code == CURLUE_OK else {
            curl_url_cleanup(handle)
            throw .badURL(String(cString: curl_url_strerror(code)))
        }
        self.handle = handle
    }

    deinit {
        curl_url_cleanup(handle)
    }

    var scheme: String? { part(CURLUPART_SCHEME) }

    /// As it is looked up: in ASCII (RFC 5890). An IPv6 address is in brackets.
    var host: String? { part(CURLUPART_HOST, UInt32(CURLU_PUNYCODE)) }

    /// The scheme's own where the URL has none.
    var port: Int? { part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap { Int($0) } }

    /// What a reference found in a document of this URL points to; nil when it is not a URL either.
    consuming func resolve(_ reference: String) -> String? {
        // Servers send spaces and raw UTF-8 in Location; browsers take them, so they are encoded rather than refused.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
        guard !reference.breaksLine, curl_url_set(handle, CURLUPART_URL, reference, flags) == CURLUE_OK else {
            return nil
        }
        return part(CURLUPART_URL)
    }

    private func part(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
