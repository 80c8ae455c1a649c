struct SessionDocument: Decodable, Sendable {
    var id: String
    var state: String
    var counts: [String: Int]
    var progress: Progress
    var batch: Int
    var finishDueAt: String?
    var lastEvent: Int64
    var acknowledgedThrough: Int64
    var unacknowledgedSince: String?
    var createdAt: String
    var configuration: Configuration

    struct Progress: Decodable, Sendable {
        var bytesReceived: Int64
        var bytesExpected: Int64?
    }

    struct Configuration: Decodable, Sendable {
        var directory: String?
        var priority: String?
        var maxConcurrentJobs: Int?
        var rateLimitBytesPerSecond: Int64?
        var connections: Int?
    }

    /// Jobs that are not over.
    var outstanding: Int {
        ["queued", "running", "waiting", "paused"].reduce(0) { $0 + (counts[$1] ?? 0) }
    }
}

struct SessionListDocument: Decodable, Sendable {
    var sessions: [SessionDocument]
}
