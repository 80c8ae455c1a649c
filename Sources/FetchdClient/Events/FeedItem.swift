/// What a stream of a session brings.
enum FeedItem: Sendable {
    case event(SessionEvent)
    /// Passing: it is not repeated after a lost connection.
    case progress(JobProgress)
    /// Events before this one were removed; the stream continues with it.
    case reset(firstAvailable: Int64)
}

struct JobProgress: Sendable, Decodable {
    let job: String
    let progress: DownloadProgress
}

struct StreamReset: Decodable {
    let firstAvailable: Int64
}

struct StreamPosition: Decodable {
    let after: Int64
}
