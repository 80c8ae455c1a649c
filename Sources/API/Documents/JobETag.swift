import Downloads

/// The ETag of a job: `"R.P"`, the committed revision, and the progress, which moves by itself. A client that does not
/// want changes of progress leaves the second half out: `"R"`.
struct JobETag: Equatable {
    var revision: Int
    /// Moves with everything that is shown and not committed; nil where a client left it out.
    var progress: Int64?

    init(_ job: Job, live: LiveProgress?) {
        revision = job.revision
        // Each attempt has a revision of its own, and within it a tick stands for one view.
        progress = live?.tick ?? 0
    }

    /// From `"7.1048576"`, or `"7"`; a weak one is compared as if it were strong.
    init?(_ text: String) {
        let bare = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        guard bare.count > 2, bare.hasPrefix("\""), bare.hasSuffix("\"") else { return nil }
        let numbers = bare.dropFirst().dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count <= 2, let revision = numbers.first.flatMap(Self.number) else { return nil }
        self.revision = Int(revision)
        guard numbers.count == 2 else { return }
        guard let tick = Self.number(numbers[1]) else { return nil }
        progress = tick
    }

    /// As we write it; nothing else stands for the same.
    private static func number(_ text: Substring) -> Int64? { Int64(text).flatMap { String($0) == text ? $0 : nil } }

    var text: String { "\"\(revision).\(progress ?? 0)\"" }
}
