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
