extension TransferRequest {
    /// Who asks, as the server is told.
    ///
    /// Sent to the host of the request's URL and to nobody else: no redirect is followed here, and a connection that
    /// another request uses afterwards carries nothing of them. Their descriptions show the kind and no secret.
    public enum Credentials: Sendable, Equatable {
        /// RFC 7617, sent with the request at once. The name must not contain a colon.
        case basic(username: String, password: String)

        /// RFC 7616 (MD5 and SHA-256; `qop=auth` or none). The server is asked first without credentials, and without
        /// the body if there is one; libcurl then answers its challenge. Only the last answer reaches the handler:
        /// a refusal of these credentials, too, but not the 401 that only names the challenge.
        case digest(username: String, password: String)

        /// RFC 6750, 2.1, sent at once. Visible ASCII without spaces.
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

    /// `dump`, and test libraries, would show what is inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension TransferRequest.Credentials {
    /// No text of these errors may repeat what it judges.
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

    /// RFC 7617, 2: control characters have no place in either. Digest writes the name into a header as it is.
    private static func validate(_ username: String, _ password: String) throws(TransferError) {
        guard !username.hasControlCharacter, !password.hasControlCharacter else {
            throw .protocolError("a user name or password contains a control character")
        }
    }
}

extension TransferRequest {
    /// Whether libcurl may answer this head with another request of its own, as Digest has it: to a challenge, and to an
    /// answer that came without one to the request whose body was withheld.
    func mayGoOn(after head: ResponseHead) -> Bool {
        guard case .digest = credentials else { return false }
        return head.status == 401 || (framedBody != nil && head.status < 300)
    }
}
