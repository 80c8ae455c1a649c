import CCurl
import Formats

/// A URL, parsed by libcurl. The same parser validates, resolves and connects, so it cannot connect to another host
/// than the one that was checked.
struct ParsedURL: ~Copyable {
    private let handle: OpaquePointer

    init(_ text: String) throws(TransferError) {
        guard let handle = curl_url() else {
            throw .other(code: Int32(CURLUE_OUT_OF_MEMORY.rawValue), message: "no memory for a URL")
        }
        // Schemes are checked later, for an error that names the reason.
        let code = curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME))
        guard code == CURLUE_OK else {
            curl_url_cleanup(handle)
            throw .badURL(String(cString: curl_url_strerror(code)))
        }
        self.handle = handle
    }

    deinit { curl_url_cleanup(handle) }

    var scheme: String? { part(CURLUPART_SCHEME) }

    /// The host without percent-encoding. An IPv6 address is in brackets.
    var host: String? { part(CURLUPART_HOST) }

    /// The port of the URL, or the default port of the scheme.
    var port: Int? { part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap { Int($0) } }

    /// Resolves a reference relative to this URL; nil if it is not a valid URL reference.
    consuming func resolve(_ reference: String) -> String? {
        // Servers send spaces and unencoded UTF-8 in Location, and browsers accept them. So they are encoded instead of refused.
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
