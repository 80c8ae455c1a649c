import Formats

/// A job of a file that `fetchd import` reads.
struct ImportedJob: Sendable {
    /// Names the job in its file, for the messages: `line 12`.
    var place: String
    /// Identifies the job in every import of its file. The new job keeps it as `metadata.imported_from`.
    var origin: String
    /// The request that creates the job.
    var body: JSONObject
    var isPaused = false
    /// The secrets that the file does not have, such as `credentials`.
    var missing: [String] = []

    /// The request with the origin in its metadata.
    var marked: JSON {
        var body = body
        var metadata = body["metadata"]?.objectValue ?? JSONObject()
        metadata[Self.mark] = .string(origin)
        body["metadata"] = .object(metadata)
        return .object(body)
    }

    /// The member of `metadata`.
    static let mark = "imported_from"
}
