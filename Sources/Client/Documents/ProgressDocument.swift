/// The progress of a running job, which the stream sends at most four times a second.
struct ProgressDocument: Decodable, Sendable {
    var job: String
    var session: String
    var phase: String?
    var progress: JobDocument.Progress
}
