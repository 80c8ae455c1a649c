import Formats
import HTTPSemantics

/// The rules for request headers that a client specifies.
extension HeaderField {
    /// The fault in the header, as the end of a sentence; nil if fetchd may send it.
    public var fault: String? {
        if name.isEmpty || !name.utf8.allSatisfy(\.isHTTPTokenCharacter) {
            return "is not a header name (RFC 9110, section 5.1)"
        }
        if value.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) { return "contains CR, LF or NUL" }
        if name.utf8.count + value.utf8.count > 8192 { return "is longer than 8192 bytes" }
        if Self.owned.contains(name.lowercased()) { return "is set by fetchd itself" }
        return nil
    }

    /// The fault in a header for the requests to a webhook, as the end of a sentence; nil if fetchd may send it.
    public var faultInWebhook: String? {
        if let fault { return fault }
        let name = name.lowercased()
        if name.hasPrefix("proxy-") { return "concerns only one connection (RFC 9110, section 7.6.1)" }
        return name.hasPrefix("webhook-") || name == "content-type" ? "is set by fetchd itself" : nil
    }

    /// Only fetchd sets these headers, because resuming and the connection depend on them.
    private static let owned: Set<String> = [
        "host", "range", "if-range", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade",
        "expect", "accept-encoding", "proxy-connection", "keep-alive",
    ]
}
