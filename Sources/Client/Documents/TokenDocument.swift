struct TokenDocument: Decodable, Sendable {
    var id: String
    var name: String?
    var scope: String
    var sessions: [String]?
    var quotas: Quotas
    var createdAt: String
    var expiresAt: String?
    var lastUsedAt: String?
    var formerTokenUntil: String?
    /// The service returns it only at creation and rotation.
    var token: String?

    struct Quotas: Decodable, Sendable {
        var outstandingJobs: Int?
        var bytesPerDay: Int64?
        var concurrentTransfers: Int?
        var requestsPerSecond: Int?
    }
}

struct TokenListDocument: Decodable, Sendable {
    var tokens: [TokenDocument]
}
