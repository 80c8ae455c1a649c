import Formats

/// The members of a job that the commands use; others are only shown. States are strings, so that the commands can show
/// states that a later version of the service adds.
struct JobDocument: Decodable, Sendable, Equatable {
    var id: String
    var session: String
    var state: String
    var phase: String?
    var reason: String?
    var url: String
    var queue: Queue?
    var destination: Destination
    var finishedAt: String?
    var progress: Progress
    var retryAt: String?
    var cause: Failure?
    var failure: Failure?
    var file: File?

    struct Queue: Decodable, Sendable, Equatable {
        var blockedBy: String?
        var until: String?
        var position: Int?
    }

    struct Destination: Decodable, Sendable, Equatable {
        var filename: String?
    }

    struct Progress: Decodable, Sendable, Equatable {
        var bytesReceived: Int64
        var bytesExpected: Int64?
        var fraction: Double?
        var bytesPerSecond: Double?
        var etaSeconds: Double?
    }

    struct Failure: Decodable, Sendable, Equatable {
        var code: String
        var message: String
        var status: Int?

        /// Whether the bytes are not, or cannot be, verified.
        var isOfVerification: Bool {
            ["checksum_mismatch", "checksum_unavailable", "signature_invalid"].contains(code)
        }
    }

    struct File: Decodable, Sendable, Equatable {
        var path: String
        var location: String?
        var size: Int64
        var sha256: String?
    }
}

extension JobDocument {
    var hasEnded: Bool { ["succeeded", "failed", "cancelled"].contains(state) }
    var hasSucceeded: Bool { state == "succeeded" }

    /// The name of the job in messages: the name of its file. Before it has one, the name that the file gets if the server
    /// names no other.
    var name: String {
        if let file { return String(file.path.split(separator: "/").last ?? "") }
        if let name = destination.filename, !name.contains("{") { return name }
        let name = url.lastURLComponent ?? ""
        return name.isEmpty ? "download" : name
    }
}

/// The progress of a running job, which the stream sends at most four times a second.
struct ProgressDocument: Decodable, Sendable {
    var job: String
    var session: String
    var phase: String?
    var progress: JobDocument.Progress
}
