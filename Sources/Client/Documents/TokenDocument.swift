struct TokenDocument: Decodable, Sendable {
    var id: String
    var name: String?
    var scope: String
    var sessions: [String]?
    var createdAt: String
    var expiresAt: String?
    var lastUsedAt: String?
    var formerTokenUntil: String?
    /// The service returns it only at creation and rotation.
    var token: String?
}

struct TokenListDocument: Decodable, Sendable {
    var tokens: [TokenDocument]
}
