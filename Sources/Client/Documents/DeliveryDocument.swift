struct DeliveryDocument: Decodable, Sendable {
    var id: String
    var webhook: String
    var session: String
    var event: Int64
    var type: String
    var state: String
    var attempts: [Attempt]
    var nextAttemptAt: String?
    var blockedBy: String?

    struct Attempt: Decodable, Sendable {
        var at: String
        var status: Int?
        var error: String?
        var latencySeconds: Double
    }
}
