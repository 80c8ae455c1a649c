import Downloads

/// The ETag of a job: `"R.P"`, the committed revision, and the progress, which moves by itself. A client that does not
/// want to be told of progress leaves the second half out: `"R"`.
struct JobTag: Equatable {
    var revision: Int
    /// Moves with everything that is not committed; nil where a client left it out.
    var progress: Int64?

    init(_ job: Job, live: LiveProgress?) {
        revision = job.revision
        // Bytes never go back within an attempt, and a phase is entered once.
        progress = live.map { $0.bytesReceived * 8 + $0.phase.ordinal } ?? 0
    }

    /// From `"7.1048576"`, or `"7"`; a weak one is compared as if it were strong.
    init?(_ text: String) {
        let bare = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        guard bare.count > 2, bare.hasPrefix("\""), bare.hasSuffix("\"") else { return nil }
        let numbers = bare.dropFirst().dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard let revision = numbers.first.flatMap({ Int($0) }), numbers.count <= 2 else { return nil }
        self.revision = revision
        progress = numbers.count == 2 ? Int64(numbers[1]) : nil
    }

    var text: String { "\"\(revision).\(progress ?? 0)\"" }
}

extension LiveProgress.Phase {
    fileprivate var ordinal: Int64 {
        switch self {
        case .connecting: 1
        case .transferring: 2
        case .verifying: 3
        case .promoting: 4
        case .stopping: 5
        }
    }
}
