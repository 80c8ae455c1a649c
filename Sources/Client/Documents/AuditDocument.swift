struct AuditEntryDocument: Decodable, Sendable {
    var id: Int64
    var time: String
    var caller: String?
    var name: String?
    var address: String
    var action: String
    var target: String?
    var outcome: String
    var reason: String?
    var change: String?
    var count: Int
}

struct AuditListDocument: Decodable, Sendable {
    var entries: [AuditEntryDocument]
    var nextAfter: Int64
}
