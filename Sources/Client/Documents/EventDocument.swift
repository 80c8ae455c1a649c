/// An event of the journal, with the members that its data may have.
struct EventDocument: Decodable, Sendable {
    var id: Int64
    var type: String
    var time: String
    var session: String
    var job: String?
    var data: Details

    /// The data of an event of any type. Members that the type does not have are nil.
    struct Details: Decodable, Sendable {
        /// The job at its end.
        var snapshot: JobDocument?
        var reason: String?
        var why: String?
        var retryAt: String?
        var offset: Int64?
        var batch: Int?
        var outcome: String?
        var counts: [String: Int]?
        var webhook: String?
    }
}

struct EventListDocument: Decodable, Sendable {
    var events: [EventDocument]
    var nextAfter: Int64
}
