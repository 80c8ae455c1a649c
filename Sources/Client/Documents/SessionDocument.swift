struct SessionDocument: Decodable, Sendable {
    var id: String
    var state: String
    var counts: [String: Int]
    var batch: Int
    var finishDueAt: String?
    var lastEvent: Int64
    var acknowledgedThrough: Int64
    var unacknowledgedSince: String?
    var createdAt: String
    var configuration: Configuration

    struct Configuration: Decodable, Sendable {
        var directory: String?
        var priority: String?
        var maxConcurrentJobs: Int?
        var rateLimitBytesPerSecond: Int64?
        var maxTotalSize: Int64?
        var connections: Int?
        var acknowledgement: String?
    }
}

extension SessionDocument {
    var hasOutstandingJobs: Bool {
        ["queued", "running", "waiting", "paused"].contains { counts[$0] ?? 0 > 0 }
    }
}

struct SessionListDocument: Decodable, Sendable {
    var sessions: [SessionDocument]
}
