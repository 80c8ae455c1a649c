import Foundation

/// What a session's transfers go through.
public struct Proxy: Sendable, Equatable, Codable {
    public enum Scheme: String, Sendable, Codable, CaseIterable {
        case http
        /// SOCKS version 5 (RFC 1928); the proxy resolves names.
        case socks5
    }

    public var scheme: Scheme
    public var host: String
    public var port: Int
    public var username: String?
    /// Secret: never shown again.
    public var password: String?

    /// From `http://user:password@host:port` or `socks5://...`, as curl takes them; nil when it is none.
    public init?(_ text: String) {
        guard let url = URLComponents(string: text),
            let scheme = url.scheme.flatMap({ Scheme(rawValue: $0.lowercased()) }),
            let host = url.host, !host.isEmpty, let port = url.port, (1...65535).contains(port),
            url.path.isEmpty || url.path == "/", url.query == nil, url.fragment == nil
        else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
        username = url.user
        password = url.password
        guard hasCredentialsThatCanBeSent else { return nil }
    }

    /// Basic authentication ends the name at the first colon (RFC 7617, section 2); SOCKS takes both or neither, of 1 to
    /// 255 bytes (RFC 1929, section 2).
    private var hasCredentialsThatCanBeSent: Bool {
        guard let username else { return password == nil }
        let both = [username, password ?? ""]
        guard !username.isEmpty, !username.contains(":"),
            both.allSatisfy({ !$0.utf8.contains { $0 < 0x20 || $0 == 0x7F } })
        else { return false }
        return scheme == .http || both.allSatisfy { 1...255 ~= $0.utf8.count }
    }

    /// Without credentials.
    public var url: String { "\(scheme.rawValue)://\(host):\(port)" }
}
