import Downloads
import Formats

/// The ETag of a job or a session: `"R.P"`. R is the committed revision, which `If-Match` compares, and P changes with the
/// progress. A client that does not want to be notified of progress omits P: `"R"`.
struct JobETag: Hashable {
    var revision: Int
    /// Changes with every shown value that is not committed; nil if the client omitted it.
    var progress: Int64?

    /// A queued job without its place in the queue matches each place.
    init(_ job: Job, live: LiveProgress?, queue: QueueEntry? = nil) {
        revision = job.revision
        guard job.state == .queued else {
            // Each attempt has its own revision, and within a revision each tick identifies one view.
            progress = live?.tick ?? 0
            return
        }
        progress = queue.map { entry in
            var writer = JSONWriter(capacity: 128)
            writer.object("queue", entry) { $0.writeMembers(to: &$1) }
            return Self.hash(writer.bytes)
        }
    }

    init(_ session: Session, in document: [UInt8]) {
        revision = session.revision
        // Within a revision, the counts and times of the session differ.
        progress = Self.hash(document)
    }

    /// FNV-1a.
    private static func hash(_ bytes: some Sequence<UInt8>) -> Int64 {
        Int64(bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } >> 1)
    }

    /// Parses `"7.1048576"` or `"7"`. A weak tag is compared like a strong one.
    init?(_ text: Substring) {
        let quoted = text.hasPrefix("W/") ? text.utf8.dropFirst(2) : text.utf8[...]
        let quote = UInt8(ascii: "\"")
        guard quoted.count > 2, quoted.first == quote, quoted.last == quote else { return nil }
        let numbers = quoted.dropFirst().dropLast()
        let dot = numbers.firstIndex(of: UInt8(ascii: "."))
        guard let revision = Self.number(numbers[..<(dot ?? numbers.endIndex)]) else { return nil }
        self.revision = Int(revision)
        guard let dot else { return }
        guard let tick = Self.number(numbers[numbers.index(after: dot)...]) else { return nil }
        progress = tick
    }

    init?(_ text: String) { self.init(text[...]) }

    /// Accepts a number only in the form that `text` writes, so that each tag has one form.
    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard let first = digits.first, first != UInt8(ascii: "0") || digits.count == 1 else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            let (tens, isLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !isLarge, !isLarger else { return nil }
            number = sum
        }
        return number
    }

    var text: String { "\"\(revision).\(progress ?? 0)\"" }
}

/// The versions of an `If-None-Match` field (RFC 9110, section 13.1.2). A tag that fetchd has not sent matches nothing.
enum IfNoneMatch {
    case any
    /// Most clients send the tag of their last response.
    case tag(JobETag)
    case tags([JobETag])

    init(_ field: String) {
        if let tag = JobETag(field) {
            self = .tag(tag)
            return
        }
        let entries = field.split(separator: ",").map(Self.withoutOuterSpace)
        self = entries.contains("*") ? .any : .tags(entries.compactMap { JobETag($0) })
    }

    private static func withoutOuterSpace(_ entry: Substring) -> Substring {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let bytes = entry.utf8.drop(while: isSpace)
        return bytes.lastIndex { !isSpace($0) }.map { Substring(bytes.prefix(through: $0)) } ?? ""
    }

    /// A tag without progress matches every progress of its revision, whether it is the known one or that of the job.
    func matches(_ tag: JobETag) -> Bool {
        func isSame(_ known: JobETag) -> Bool {
            known.revision == tag.revision
                && (known.progress == nil || tag.progress == nil || known.progress == tag.progress)
        }
        return switch self {
        case .any: true
        case .tag(let known): isSame(known)
        case .tags(let known): known.contains(where: isSame)
        }
    }
}
