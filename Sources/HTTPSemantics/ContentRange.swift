/// `Content-Range` of RFC 9110, section 14.4.
public enum ContentRange: Sendable, Equatable {
    /// `bytes first-last/complete`; `complete` is nil for `*`.
    case bytes(first: Int64, last: Int64, complete: Int64?)
    /// `bytes */complete`
    case unsatisfied(complete: Int64)

    public init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let complete = Self.number(halves[1])
        guard complete != nil || halves[1] == "*" else { return nil }
        if halves[0] == "*" {
            guard let complete else { return nil }
            self = .unsatisfied(complete: complete)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            complete.map({ last < $0 }) ?? true
        else { return nil }
        self = .bytes(first: first, last: last, complete: complete)
    }

    /// Whether the range is the complete representation.
    public var isWhole: Bool {
        guard case .bytes(0, let last, let complete?) = self else { return false }
        return last == complete - 1
    }

    /// Accepts digits only. `Int64` would also accept a sign. The largest number is refused: a range that ended there would
    /// have an end and a length that `Int64` cannot hold.
    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text), number < .max else {
            return nil
        }
        return number
    }
}
