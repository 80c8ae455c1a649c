/// How a download proves to its server who asks. The service never shows it.
public enum Credential: Sendable, Equatable {
    case basic(username: String, password: String)
    case digest(username: String, password: String)
    case bearer(token: String)
}

extension Credential: Codable {
    private enum Name: String, CodingKey { case type, username, password, token }
    private enum Kind: String, Codable { case basic, digest, bearer }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        func text(_ name: Name) throws -> String { try container.decode(String.self, forKey: name) }
        self =
            switch try container.decode(Kind.self, forKey: .type) {
            case .basic: .basic(username: try text(.username), password: try text(.password))
            case .digest: .digest(username: try text(.username), password: try text(.password))
            case .bearer: .bearer(token: try text(.token))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        switch self {
        case .basic(let username, let password):
            try container.encode(Kind.basic, forKey: .type)
            try container.encode(username, forKey: .username)
            try container.encode(password, forKey: .password)
        case .digest(let username, let password):
            try container.encode(Kind.digest, forKey: .type)
            try container.encode(username, forKey: .username)
            try container.encode(password, forKey: .password)
        case .bearer(let token):
            try container.encode(Kind.bearer, forKey: .type)
            try container.encode(token, forKey: .token)
        }
    }
}
