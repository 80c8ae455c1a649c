import HTTPSemantics

/// Reads credentials from the request of a client. The API never shows them again.
extension Credentials {
    private enum Kind: String, CaseIterable { case basic, digest, bearer }

    init(reading reader: inout FieldReader) throws(Problem) {
        let kind = try reader.choice("type", of: Kind.self)
        let username = try reader.credential("username")
        let password = try reader.credential("password")
        let token = try reader.credential("token")
        guard let kind else { throw reader.missing("type", "basic, digest or bearer") }
        switch kind {
        case .basic, .digest:
            if token != nil { throw reader.invalid("token", "is for credentials of type bearer") }
            guard let username else { throw reader.missing("username", "the user name") }
            if kind == .basic, username.contains(":") {
                throw reader.invalid("username", "contains a colon, which basic authentication cannot send")
            }
            self =
                kind == .basic
                ? .basic(username: username, password: password ?? "")
                : .digest(username: username, password: password ?? "")
        case .bearer:
            if username != nil { throw reader.invalid("username", "is not sent with a bearer token") }
            if password != nil { throw reader.invalid("password", "is not sent with a bearer token") }
            guard let token, !token.isEmpty else { throw reader.missing("token", "the bearer token") }
            guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw reader.invalid("token", "must be visible ASCII characters")
            }
            self = .bearer(token: token)
        }
    }
}

extension FieldReader {
    fileprivate mutating func credential(_ name: String) throws(Problem) -> String? {
        guard let text = try string(name) else { return nil }
        guard text.utf8.count <= 4096, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw invalid(name, "contains a control character, or is longer than 4096 bytes")
        }
        return text
    }
}
