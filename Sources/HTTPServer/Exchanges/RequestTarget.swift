import HTTPTypes

/// The target of a request line, in one of the forms of RFC 9112, section 3.2.
struct RequestTarget: Equatable {
    /// The path with its query, or `*`.
    let local: String
    /// The host and port of a target in absolute form. They replace the `Host` field (section 3.2.2).
    let authority: String?

    /// nil if the target has none of the forms, or contains a space or a control character. `CONNECT` has a form of its own,
    /// which only proxies need.
    init?(_ text: String, _ method: HTTPRequest.Method) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), method != .connect else { return nil }
        if text.utf8.first == UInt8(ascii: "/") || (text == "*" && method == .options) {
            (local, authority) = (text, nil)
            return
        }
        guard let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) }) else { return nil }
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        let host = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !host.isEmpty else { return nil }
        let path = String(Substring(rest.dropFirst(host.count)))
        (local, authority) = (path.hasPrefix("/") ? path : "/" + path, String(Substring(host)))
    }
}
