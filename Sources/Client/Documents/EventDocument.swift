/// An event of the journal, with what its data may hold.
struct EventDocument: Decodable, Sendable {
    var id: Int64
    var type: String
    var time: String
    var session: String
    var job: String?
    var data: Details

    /// Of any type of event: what it has not is nil.
    struct Details: Decodable, Sendable {
        /// The job as it ended.
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

/// What a stream says of a running job, four times a second at most.
struct ProgressDocument: Decodable, Sendable {
    var job: String
    var session: String
    var phase: String?
    var progress: JobDocument.Progress
}
