import Downloads

/// The ETag of a job or a session: `"R.P"`. R is the committed revision, which `If-Match` compares, and P changes with the
/// progress. A client that does not want to be notified of progress omits P: `"R"`.
struct JobETag: Hashable {
    var revision: Int
    /// Changes with every shown value that is not committed; nil if the client omitted it.
    var progress: Int64?

    init(_ job: Job, live: LiveProgress?) {
        revision = job.revision
        // Each attempt has its own revision, and within a revision each tick identifies one view.
        progress = live?.tick ?? 0
    }

    /// - Parameter document: what the answer shows of the session.
    init(_ session: Session, in document: [UInt8]) {
        revision = session.revision
        // FNV-1a. Within a revision, the counts and times of the session differ.
        progress = Int64(document.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } >> 1)
    }

    /// Parses `"7.1048576"` or `"7"`. A weak tag is compared like a strong one.
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

    /// Accepts a number only in the form that `text` writes, so that each tag has one form.
    private static func number(_ text: Substring) -> Int64? { Int64(text).flatMap { String($0) == text ? $0 : nil } }

    var text: String { "\"\(revision).\(progress ?? 0)\"" }
}
