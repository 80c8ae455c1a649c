import Formats

extension TransferRequest {
    /// Credentials for the server.
    ///
    /// They are sent only to the host of the URL: redirects are not followed here, and other requests on the same
    /// connection do not contain them. Descriptions show the kind of credentials and no secret.
    public enum Credentials: Sendable, Equatable {
        /// RFC 7617, sent with the first request. The name must not contain a colon.
        case basic(username: String, password: String)

        /// RFC 7616 (MD5 and SHA-256; `qop=auth` or none). The first request has no credentials and no body; libcurl
        /// then answers the challenge. The handler receives only the last response. It may be a 401 that refuses these
        /// credentials, but not the 401 with the first challenge.
        case digest(username: String, password: String)

        /// RFC 6750, 2.1, sent with the first request. Visible ASCII without spaces.
        case bearer(token: String)
    }
}

extension TransferRequest.Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .basic: "basic credentials"
        case .digest: "digest credentials"
        case .bearer: "a bearer token"
        }
    }

    public var debugDescription: String { description }

    /// Without it, `dump` and test libraries would show the secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension TransferRequest.Credentials {
    /// The error texts must not contain the values that they reject.
    func validate() throws(TransferError) {
        switch self {
        case .basic(let username, let password):
            guard !username.utf8.contains(UInt8(ascii: ":")) else {
                throw .protocolError("a user name for Basic must not contain a colon")
            }
            try Self.validate(username, password)
        case .digest(let username, let password):
            try Self.validate(username, password)
        case .bearer(let token):
            guard !token.isEmpty, token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
                throw .protocolError("a bearer token is visible ASCII without spaces")
            }
        }
    }

    /// Control characters are not allowed (RFC 7617, 2). Digest also writes the name into a header.
    private static func validate(_ username: String, _ password: String) throws(TransferError) {
        guard !username.hasControlCharacter, !password.hasControlCharacter else {
            throw .protocolError("a user name or password contains a control character")
        }
    }
}

extension TransferRequest {
    /// Whether libcurl may send another request after this head, as Digest requires: after a challenge, and after a
    /// response without a challenge to the request whose body was withheld.
    func mayGoOn(after head: ResponseHead) -> Bool {
        guard case .digest = credentials else { return false }
        return head.status == 401 || (framedBody != nil && head.status < 300)
    }
}

extension TransferRequest {
    /// A proxy for a transfer.
    ///
    /// `Options.admitsAddress` checks the address of the proxy, because sockets are opened only to it, and an address in
    /// the URL. The proxy resolves names, and decides which of their addresses it connects to. Addresses in heads and
    /// metrics are those of the proxy.
    public struct Proxy: Sendable, Equatable {
        public enum Scheme: Sendable {
            /// RFC 9110. Requests for `http` URLs are sent to the proxy, those for `https` URLs through a tunnel (`CONNECT`).
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

    var authority: String { bareHost.contains(":") ? "[\(bareHost)]:\(port)" : "\(bareHost):\(port)" }

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
        !isEmpty && utf8.allSatisfy { $0.isASCIIAlphanumeric || "-._".utf8.contains($0) }
    }
}

extension TransferRequest {
    /// The TLS settings of an `https` transfer. Only transfers with equal settings share a connection.
    public struct TLSOptions: Sendable, Equatable {
        /// A PEM file of certificates to trust *instead of* those of the system (`CURLOPT_CAINFO`, no
        /// `CURLOPT_CAPATH`). Its contents may be cached for a minute. nil trusts the certificates of the system.
        public var caFile: String?
        /// The public key of the server must match one of these: base64 of the SHA-256 of its SubjectPublicKeyInfo (RFC 7469,
        /// 2.4), alone or with the prefix of libcurl, `sha256//...`. Empty accepts any key. Also checked if `verifies` is false.
        public var pinnedPublicKeys: [String]
        /// Whether the certificate must be valid, match the host, and have a trusted issuer. If false, an attacker on
        /// the path can read and change the data, unless keys are pinned.
        public var verifies: Bool

        public init(caFile: String? = nil, pinnedPublicKeys: [String] = [], verifies: Bool = true) {
            self.caFile = caFile
            self.pinnedPublicKeys = pinnedPublicKeys
            self.verifies = verifies
        }
    }
}

extension TransferRequest.TLSOptions {
    private static let prefix = "sha256//"

    /// `CURLOPT_PINNEDPUBLICKEY`; nil if no key is pinned.
    var pins: String? {
        guard !pinnedPublicKeys.isEmpty else { return nil }
        return pinnedPublicKeys.map { $0.hasPrefix(Self.prefix) ? $0 : Self.prefix + $0 }.joined(separator: ";")
    }

    func validate() throws(TransferError) {
        if let caFile, caFile.isEmpty || caFile.utf8.contains(0) { throw .tlsFailed("the CA file has no name") }
        // libcurl would read a value that is not a hash as the path of a key file.
        guard pinnedPublicKeys.allSatisfy(Self.isHash) else {
            throw .tlsFailed("a pinned public key is not the base64 of a SHA-256 (44 characters)")
        }
    }

    /// 32 bytes in base64: 43 characters and one `=`.
    private static func isHash(_ pin: String) -> Bool {
        let text = (pin.hasPrefix(prefix) ? pin.dropFirst(prefix.count) : pin[...]).utf8
        return text.count == 44 && text.last == UInt8(ascii: "=")
            && text.dropLast().allSatisfy { $0.isASCIIAlphanumeric || "+/".utf8.contains($0) }
    }
}
