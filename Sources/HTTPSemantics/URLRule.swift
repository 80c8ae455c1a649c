import Foundation

/// What a URL to be fetched or posted to must be like, and how much of it may be shown.
public enum URLRule {
    public static let longest = 8192
    /// A name in DNS has at most 255 bytes on the wire, which are 253 characters (RFC 1035, section 2.3.4).
    private static let longestHost = 253

    /// A sentence saying what is wrong with it; nil when it may be used.
    public static func fault(in text: String) -> String? {
        if text.isEmpty { return "is empty" }
        if text.utf8.count > longest { return "is longer than \(longest) bytes" }
        if text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) { return "contains a space or control character" }
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased() else {
            return "is not an absolute URL such as https://host/file"
        }
        guard scheme == "http" || scheme == "https" else {
            return "has the scheme \(scheme); http and https are fetched"
        }
        guard let host = url.host, !host.isEmpty else { return "has no host" }
        if host.utf8.count > longestHost { return "has a host of more than \(longestHost) bytes" }
        if host.first == "[", !isIPv6(host) { return "has brackets around what is no IPv6 address" }
        if let port = url.port, !(1...65535).contains(port) { return "has a port outside 1 to 65535" }
        return nil
    }

    /// In brackets, with a zone where it has one (RFC 6874): `[fe80::1%eth0]`.
    private static func isIPv6(_ host: String) -> Bool {
        var address = in6_addr()
        let text = host.dropFirst().dropLast().prefix { $0 != "%" }
        return host.last == "]" && inet_pton(AF_INET6, String(text), &address) == 1
    }

    /// Without the query, which often is a signature, and without user and password: for events, logs and metrics.
    public static func redacted(_ text: String) -> String {
        let bare = text.prefix { $0 != "?" && $0 != "#" }
        return withoutCredentials(bare.count < text.count ? bare + "?..." : String(bare))
    }

    /// Without user and password: for everybody but the server they are meant for.
    public static func withoutCredentials(_ text: String) -> String {
        guard let scheme = text.range(of: "://") else { return text }
        let authority = text[scheme.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<scheme.upperBound] + text[text.index(after: at)...])
    }

    /// Lowercase, without brackets. A URL without an authority has its scheme for a host.
    public static func host(of text: String) -> String {
        if let scheme = opaqueScheme(of: text) { return scheme }
        return (URLComponents(string: text)?.host ?? "").lowercased().filter { $0 != "[" && $0 != "]" }
    }

    /// Scheme, host and port (RFC 6454, section 4): whom headers and credentials are meant for.
    public static func origin(of text: String) -> String {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        return "\(scheme)://\(hostAndPort(of: text))"
    }

    /// `host:port`, by which connections to one server are counted; of a URL without an authority its scheme.
    public static func hostAndPort(of text: String) -> String {
        if let scheme = opaqueScheme(of: text) { return scheme }
        guard let url = URLComponents(string: text), let host = url.host else { return "" }
        return "\(host.lowercased()):\(url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80))"
    }

    /// The scheme, in lowercase, of a URL that has no authority (RFC 3986, section 3); nil of every other.
    private static func opaqueScheme(of text: String) -> String? {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = text.utf8.dropFirst(scheme.count)
        guard !rest.isEmpty, !rest.starts(with: "://".utf8) else { return nil }
        return String(Substring(scheme)).lowercased()
    }
}
