import Formats
import HTTPSemantics

extension Credentials {
    /// The error texts must not contain the values that they reject.
    func validate() throws(TransferError) {
        switch self {
        case .basic(let username, let password):
            guard !username.utf8.contains(UInt8(ascii: ":")) else {
                throw .protocolError("a user name for Basic must not contain a colon")
            }
            try Self.validate(username, password)
        case .digest(let username, let password): try Self.validate(username, password)
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

extension Proxy {
    /// `CURLOPT_PROXY`. With `socks5h`, the proxy resolves names, so the client does not look them up.
    var option: String { scheme == .http ? url : "socks5h://\(authority)" }

    /// The error texts must not contain the values that they reject: a mistyped host may contain credentials.
    func validate() throws(TransferError) {
        guard (1...65535).contains(port) else { throw .protocolError("a proxy's port is 1 to 65535") }
        guard IPAddress(String(bareHost)) != nil || host.isHostName else {
            throw .protocolError("a proxy's host is neither a name nor an address")
        }
        guard hasCredentialsThatCanBeSent else {
            throw .protocolError("the user name and the password of a proxy cannot be sent")
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
