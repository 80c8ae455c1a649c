struct StatsDocument: Decodable, Sendable {
    var version: String
    var startedAt: String
    var uptimeSeconds: Double
    var jobs: [String: Int]
    var sessions: Int
    var lastEvent: Int64
    var deliveriesPending: Int
    var finishesUnacknowledged: Int
    var bytesPerSecond: Double
    var bytesReceived: Int64
    var throughput: Throughput
    var slots: Slots
    var disk: Disk?

    struct Throughput: Decodable, Sendable {
        var intervalSeconds: Int
        var bytesPerSecond: [Double]
    }

    struct Slots: Decodable, Sendable {
        var used: Int
        var max: Int
    }

    struct Disk: Decodable, Sendable {
        var freeBytes: Int64
        var totalBytes: Int64
    }
}
