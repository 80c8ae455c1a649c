struct NodeDocument: Decodable, Sendable {
    var number: Int64
    var state: String
    var url: String?
    var version: String
    var leaseExpiresInSeconds: Double?
    var isSelf: Bool
    var isLeader: Bool
    var slots: Int
    var running: Int
}

struct NodeListDocument: Decodable, Sendable {
    var nodes: [NodeDocument]
}
