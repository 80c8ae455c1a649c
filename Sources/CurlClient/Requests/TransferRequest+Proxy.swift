extension TransferRequest {
    /// A proxy for a transfer.
    ///
    /// `Options.admitsAddress` checks the address of the proxy, because sockets are opened only to it, and an address in
    /// the URL. The proxy resolves names, and decides which of their addresses it connects to. Addresses in heads and
    /// metrics are those of the proxy.
    public struct Proxy: Sendable, Equatable {
        public enum Scheme: Sendable {
            /// RFC 9110. Requests for `http` URLs are sent to the proxy, those for `https` URLs through a tunnel
            /// (`CONNECT`).
            case http
            /// RFC 1928. The proxy resolves names (`socks5h` of libcurl), so the client does not look them up.
            case socks5
        }

        public var scheme: Scheme
        /// A name or an address; an IPv6 address with or without brackets.
        public var host: String
        /// 1 to 65535.
        public var port: Int
        /// Requires a password. Basic for an HTTP proxy, RFC 1929 for a SOCKS proxy (1 to 255 bytes each). Sent with
        /// the first request. The name must not contain a colon.
        public var username: String?
        public var password: String?

        public init(scheme: Scheme, host: String, port: Int, username: String? = nil, password: String? = nil) {
            self.scheme = scheme
            self.host = host
            self.port = port
            self.username = username
            self.password = password
        }
    }
}

extension TransferRequest.Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `socks5://host:1080`: without credentials.
    public var description: String {
        switch scheme {
        case .http: "http://\(authority)"
        case .socks5: "socks5://\(authority)"
        }
    }

    public var debugDescription: String { description }

    /// Without it, `dump` and test libraries would show the secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension TransferRequest.Proxy {
    /// `CURLOPT_PROXY`.
    var option: String {
        switch scheme {
        case .http: "http://\(authority)"
        case .socks5: "socks5h://\(authority)"
        }
    }

    var authority: String {
        bareHost.contains(":") ? "[\(bareHost)]:\(port)" : "\(bareHost):\(port)"
    }

    private var bareHost: Substring {
        host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]
    }

    /// The error texts must not contain the values that they reject: a mistyped host may contain credentials.
    func validate() throws(TransferError) {
        guard (1...65535).contains(port) else { throw .protocolError("a proxy's port is 1 to 65535") }
        guard IPAddress(String(bareHost)) != nil || host.isHostName else {
            throw .protocolError("a proxy's host is neither a name nor an address")
        }
        guard username != nil || password == nil else { throw .protocolError("a proxy's password needs a user name") }
        if let username { try Self.validate(username, password ?? "", for: scheme) }
    }

    private static func validate(_ username: String, _ password: String, for scheme: Scheme) throws(TransferError) {
        try TransferRequest.Credentials.basic(username: username, password: password).validate()
        guard scheme == .http || [username, password].allSatisfy({ 1...255 ~= $0.utf8.count }) else {
            throw .protocolError("a SOCKS proxy takes 1 to 255 bytes of user name and of password")
        }
    }
}

extension String {
    /// ASCII only. libcurl could read other characters as something else than a name.
    fileprivate var isHostName: Bool {
        !isEmpty && utf8.allSatisfy { $0.isHostNameCharacter }
    }
}

extension UInt8 {
    fileprivate var isHostNameCharacter: Bool {
        switch asciiLowercased {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }
}
