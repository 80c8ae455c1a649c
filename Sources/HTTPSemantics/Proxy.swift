import Formats
import Foundation

public struct Proxy: Sendable, Equatable, Codable {
    public enum Scheme: String, Sendable, Codable, CaseIterable {
        case http
        /// SOCKS version 5 (RFC 1928). The proxy resolves host names.
        case socks5
    }

    public var scheme: Scheme
    /// A name or an address; an IPv6 address with or without brackets.
    public var host: String
    public var port: Int
    public var username: String?
    /// Secret: fetchd never shows it.
    public var password: String?

    public init(scheme: Scheme, host: String, port: Int, username: String? = nil, password: String? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.username = username
        self.password = password
    }

    /// Reads `http://user:password@host:port` or `socks5://...`, as curl does; nil for any other text.
    public init?(_ text: String) {
        guard let url = text.withASCIIHost.flatMap(URLComponents.init(string:)),
            let scheme = url.scheme.flatMap({ Scheme(rawValue: $0.lowercased()) }),
            let host = url.encodedHost, !host.isEmpty, let port = url.port, (1...65535).contains(port),
            url.path.isEmpty || url.path == "/", url.query == nil, url.fragment == nil
        else { return nil }
        self.init(scheme: scheme, host: host, port: port, username: url.user, password: url.password)
        guard hasCredentialsThatCanBeSent else { return nil }
    }

    /// In Basic authentication, the user name ends at the first colon (RFC 7617, section 2). SOCKS needs both user name
    /// and password or neither, each of 1 to 255 bytes (RFC 1929, section 2).
    public var hasCredentialsThatCanBeSent: Bool {
        guard let username else { return password == nil }
        let both = [username, password ?? ""]
        guard !username.isEmpty, !username.contains(":"),
            both.allSatisfy({ !$0.utf8.contains { $0 < 0x20 || $0 == 0x7F } })
        else { return false }
        return scheme == .http || both.allSatisfy { 1...255 ~= $0.utf8.count }
    }

    public var url: String { "\(scheme.rawValue)://\(authority)" }

    /// The host and the port, as a URL has them.
    public var authority: String { bareHost.contains(":") ? "[\(bareHost)]:\(port)" : "\(bareHost):\(port)" }

    public var bareHost: Substring {
        host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]
    }

    public var withoutCredentials: Proxy {
        var proxy = self
        proxy.username = nil
        proxy.password = nil
        return proxy
    }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Without credentials.
    public var description: String { url }
    public var debugDescription: String { url }
    /// Without it, `dump` and test libraries would show the password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
