import Formats
import Foundation

/// The rules for URLs that fetchd requests, and the parts of a URL that may be shown.
public enum URLRule {
    public static let longest = 8192

    /// The fault in a URL, as the end of a sentence; nil if the URL is valid.
    public static func fault(in text: String) -> String? {
        if text.isEmpty { return "is empty" }
        if text.utf8.count > longest { return "is longer than \(longest) bytes" }
        if let url = CommonURL(text) { return fault(inHost: url.host, port: url.port) }
        if text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) { return "contains a space or control character" }
        guard let ascii = text.withASCIIHost else {
            return text.hostRange?.isEmpty == true ? "has no host" : "has a host that cannot be a name"
        }
        guard let url = URLComponents(string: ascii), let scheme = url.scheme?.lowercased() else {
            return "is not an absolute URL such as https://host/file"
        }
        guard scheme == "http" || scheme == "https" else {
            return "has the scheme \(scheme); http and https are fetched"
        }
        guard let host = url.host(), !host.isEmpty else { return "has no host" }
        return fault(inHost: host, port: url.port)
    }

    private static func fault(inHost host: String, port: Int?) -> String? {
        if host.first == "[", !isIPv6(host) { return "has brackets around what is no IPv6 address" }
        if let port, !(1...65535).contains(port) { return "has a port outside 1 to 65535" }
        return nil
    }

    /// The form in which fetchd stores, compares and shows a URL: with the host in ASCII. A URL with a fault stays as it is.
    public static func normalized(_ text: String) -> String {
        CommonURL(text) == nil ? text.withASCIIHost ?? text : text
    }

    /// Whether the host is an IPv6 address in brackets, with or without a zone (RFC 6874): `[fe80::1%eth0]`.
    private static func isIPv6(_ host: String) -> Bool {
        let text = host.dropFirst().dropLast().prefix { $0 != "%" }
        return host.last == "]" && text.utf8.contains(UInt8(ascii: ":")) && IPAddress(String(text)) != nil
    }

    /// For events, logs and metrics: the URL without user and password, and without its query, which often contains a signature.
    public static func redacted(_ text: String) -> String {
        let end = text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return withoutCredentials(end.map { String(text[..<$0]) + "?..." } ?? text)
    }

    /// Whether the URL has a user or a query, which often are secret: whether `redacted` removes anything.
    public static func holdsSecret(_ text: String) -> Bool {
        let marks = text.utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "#") }
        return marks && redacted(text) != text
    }

    /// What a text must not show of this URL: the user and the password, the query, and the longer values of the query.
    public static func secrets(of text: String) -> [String] {
        // Compares bytes, because a combining mark after a separator makes another character of it.
        var secrets: [Substring.UTF8View] = []
        if let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) {
            let query = text.utf8[text.utf8.index(after: mark)...].prefix { $0 != UInt8(ascii: "#") }
            secrets.append(query)
            secrets += query.split(separator: UInt8(ascii: "&")).compactMap { pair in
                pair.firstIndex(of: UInt8(ascii: "=")).map { pair[pair.index(after: $0)...] }
            }.filter { $0.count >= 8 }
        }
        let authority = text.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        if let end = authority.lastIndex(of: UInt8(ascii: "@")) {
            secrets += [authority[..<end]] + authority[..<end].split(separator: UInt8(ascii: ":"))
        }
        // Longer ones first: they contain others.
        return secrets.filter { !$0.isEmpty }.map { String(Substring($0)) }.sorted { $0.utf8.count > $1.utf8.count }
    }

    /// Whether the text is a URL whose query was removed by `redacted`.
    public static func isRedacted(_ text: String) -> Bool { text.utf8.suffix(4).elementsEqual("?...".utf8) }

    /// The URL without user and password, which only the URL's own server gets.
    public static func withoutCredentials(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")), let host = text.hostRange,
            let scheme = text.utf8.firstIndex(of: UInt8(ascii: "/"))
        else { return text }
        return String(text[..<text.utf8.index(scheme, offsetBy: 2)] + text[host.lowerBound...])
    }

    /// The host in lowercase ASCII, without brackets. For a URL without an authority: its scheme.
    public static func host(of text: String) -> String {
        if let url = CommonURL(text) { return url.host.lowercased() }
        if let scheme = opaqueScheme(of: text) { return scheme }
        return (URLComponents(string: normalized(text))?.host() ?? "").lowercased().filter { $0 != "[" && $0 != "]" }
    }

    /// Scheme, host and port (RFC 6454, section 4). Headers and credentials belong to one origin.
    public static func origin(of text: String) -> String {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        return "\(scheme)://\(hostAndPort(of: text))"
    }

    /// `host:port`, by which connections to one server are counted. For a URL without an authority: its scheme.
    public static func hostAndPort(of text: String) -> String {
        if let url = CommonURL(text) { return "\(url.host.lowercased()):\(url.port ?? (url.isSecure ? 443 : 80))" }
        if let scheme = opaqueScheme(of: text) { return scheme }
        guard let url = URLComponents(string: normalized(text)), let host = url.host() else { return "" }
        return "\(host.lowercased()):\(url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80))"
    }

    /// The scheme, in lowercase, of a URL without an authority (RFC 3986, section 3); nil for every other URL.
    private static func opaqueScheme(of text: String) -> String? {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = text.utf8.dropFirst(scheme.count)
        guard !rest.isEmpty, !rest.starts(with: "://".utf8) else { return nil }
        return String(Substring(scheme)).lowercased()
    }
}

extension URLComponents {
    /// The host as it is in the URL. (`host` would convert an ASCII name to Unicode, and be nil if it cannot.)
    fileprivate func host() -> String? { encodedHost?.removingPercentEncoding }
}

/// The parts of a URL in the form that nearly all have: `http` or `https`, a host of at most 63 letters, digits, dots and
/// hyphens, and a path and a query without a fragment. `URLComponents` takes microseconds for a URL, and a request can have
/// 10,000.
///
/// Every such URL is valid by RFC 3986, and these are the parts that `URLComponents` finds.
struct CommonURL {
    let host: String
    let port: Int?
    let isSecure: Bool

    /// nil for every other form, valid or not.
    init?(_ text: String) {
        guard let parts = text.utf8.withContiguousStorageIfAvailable(Self.parts) ?? nil else { return nil }
        self = parts
    }

    private init(host: String, port: Int?, isSecure: Bool) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
    }

    private static func parts(_ text: UnsafeBufferPointer<UInt8>) -> CommonURL? {
        let isSecure = text.starts(with: "https://".utf8)
        guard isSecure || text.starts(with: "http://".utf8) else { return nil }
        let start = isSecure ? 8 : 7
        let host = text[start...].prefix(while: isHostByte)
        guard isHost(host) else { return nil }
        var (rest, port) = (text[host.endIndex...], Int?.none)
        if rest.first == UInt8(ascii: ":") {
            let digits = rest.dropFirst().prefix(while: \.isASCIIDigit)
            guard (1...5).contains(digits.count) else { return nil }
            port = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            rest = text[digits.endIndex...]
        }
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?"), isPathAndQuery(rest)
        else { return nil }
        return CommonURL(host: String(decoding: host, as: UTF8.self), port: port, isSecure: isSecure)
    }

    /// Whether this is a short name without empty labels, or an IPv4 address. `URLComponents` decodes Punycode, which has
    /// two hyphens.
    private static func isHost(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let (dot, hyphen) = (UInt8(ascii: "."), UInt8(ascii: "-"))
        guard (1...63).contains(host.count), host.first != dot, host.last != dot else { return false }
        return !zip(host, host.dropFirst()).contains { $0 == $1 && ($0 == dot || $0 == hyphen) }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric || ".-".utf8.contains(byte) }

    private static func isPathAndQuery(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "%") {
                guard index + 2 < text.endIndex, text[index + 1].hexadecimalValue != nil,
                    text[index + 2].hexadecimalValue != nil
                else { return false }
                index += 3
            } else {
                guard text[index].isASCIIAlphanumeric || isPathPunctuation(text[index]) else { return false }
                index += 1
            }
        }
        return true
    }

    /// `pchar` without letters, digits and `%`, and `/` and `?` (RFC 3986, sections 3.3 and 3.4).
    private static func isPathPunctuation(_ byte: UInt8) -> Bool { "-._~!$&'()*+,;=:@/?".utf8.contains(byte) }
}
