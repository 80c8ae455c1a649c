/// A job's place in the queue of its session and priority. Jobs start in the ascending order of their ranks, compared
/// byte by byte.
///
/// The rank of a job that was never moved is its identifier, so these jobs start in the order in which they were created. A
/// moved job gets a rank between those of its new neighbours, and no other job changes. There is always room between two
/// ranks, because a rank can be longer than both.
public struct QueueRank: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) { self.text = text }

    /// The rank of a job that was never moved.
    public init(of job: JobID) { text = job.text }

    public var description: String { text }

    /// The longest rank, in bytes. About 500 moves to exactly the same place lead there.
    public static let longest = 128

    /// A rank before `next`; nil if there is none.
    ///
    /// It counts the first bytes of `next` down by one, so that the ranks of many jobs that are moved to the top one after
    /// another do not become longer.
    public static func before(_ next: QueueRank) -> QueueRank? {
        var digits = next.text.utf8.prefix(beginning).map(Digit.value)
        digits += Array(repeating: 0, count: beginning - digits.count)
        guard let last = digits.lastIndex(where: { $0 > 0 }) else { return nil }
        digits[last] -= 1
        for index in digits.indices[(last + 1)...] { digits[index] = Digit.base - 1 }
        return QueueRank(digits: digits + [Digit.base / 2])
    }

    /// A rank between two others; nil if `previous` is not before `next`, and if there is no room.
    public static func between(_ previous: QueueRank, _ next: QueueRank) -> QueueRank? {
        let (low, high) = (Array(previous.text.utf8).map(Digit.value), Array(next.text.utf8).map(Digit.value))
        guard low.lexicographicallyPrecedes(high) else { return nil }
        var digits: [Int] = []
        // Whether the digits so far are those of `next`, so that the following ones must stay below it.
        var isBounded = true
        while digits.count < longest {
            let index = digits.count
            if isBounded, index >= high.count { return nil }
            let lowest = index < low.count ? low[index] : 0
            let highest = isBounded ? high[index] : Digit.base
            if highest - lowest > 1 { return QueueRank(digits: digits + [(lowest + highest) / 2]) }
            digits.append(lowest)
            if lowest < highest { isBounded = false }
        }
        return nil
    }

    /// Ascending ranks before `next`; nil if there are not so many.
    public static func before(_ next: QueueRank, _ count: Int) -> [QueueRank]? {
        var ranks = [next]
        while ranks.count <= count {
            guard let rank = before(ranks[ranks.count - 1]) else { return nil }
            ranks.append(rank)
        }
        return ranks.dropFirst().reversed()
    }

    /// Ascending ranks between two others; nil if there is no room. The one in the middle is made first, so that the length grows
    /// with the logarithm of their number.
    public static func between(_ previous: QueueRank, _ next: QueueRank, _ count: Int) -> [QueueRank]? {
        guard count > 0 else { return [] }
        guard let middle = between(previous, next), let before = between(previous, middle, count / 2),
            let after = between(middle, next, count - 1 - count / 2)
        else { return nil }
        return before + [middle] + after
    }

    private init(digits: [Int]) { text = String(decoding: digits.map { Digit.all[$0] }, as: UTF8.self) }

    /// The number of bytes that `before` counts down.
    private static let beginning = 8

    /// The bytes of identifiers and ranks, in their order.
    private enum Digit {
        static let all = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)
        static var base: Int { all.count }

        /// A byte that is not a digit counts as the lowest one.
        static func value(_ byte: UInt8) -> Int { all.firstIndex(of: byte) ?? 0 }
    }
}

extension QueueRank: Comparable {
    public static func < (one: QueueRank, other: QueueRank) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }
}

/// Where a job is moved to, among the jobs of its session and priority that wait for a slot: those that are queued,
/// waiting or paused.
public enum QueuePosition: Sendable, Equatable {
    case top
    case bottom
    case before(JobID)
    case after(JobID)
}

/// Where a client wants jobs.
public enum QueueTarget: Sendable, Equatable {
    case place(QueuePosition)
    /// 0 is the top; an index beyond the end is the bottom.
    case index(Int)
}
