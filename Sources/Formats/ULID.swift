import Foundation

/// A Universally Unique Lexicographically Sortable Identifier: 48 bits of milliseconds, 80 random bits, 26 characters
/// of Crockford's base 32 (github.com/ulid/spec).
public struct ULID: Sendable, Hashable, Comparable, CustomStringConvertible {
    private let high: UInt64  // 48 bits of time, 16 random bits
    private let low: UInt64  // 64 random bits

    public init(at time: Date, using random: inout some RandomNumberGenerator) {
        high = Self.milliseconds(of: time) << 16 | UInt64(UInt16.random(in: .min ... .max, using: &random))
        low = UInt64.random(in: .min ... .max, using: &random)
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Not larger than any identifier of this time or later.
    public static func lowest(at time: Date) -> ULID { ULID(high: milliseconds(of: time) << 16, low: 0) }

    /// The next larger identifier, for several in one millisecond, and for a clock that was set back.
    var successor: ULID { low == .max ? ULID(high: high &+ 1, low: 0) : ULID(high: high, low: low + 1) }

    /// Whether its millisecond is before that of `time`.
    func isBefore(_ time: Date) -> Bool { high >> 16 < Self.milliseconds(of: time) }

    private static func milliseconds(of time: Date) -> UInt64 { UInt64(clamping: time.milliseconds) & 0xFFFF_FFFF_FFFF }

    public static func < (left: ULID, right: ULID) -> Bool { (left.high, left.low) < (right.high, right.low) }

    public var description: String {
        String(unsafeUninitializedCapacity: 26) { text in
            var (high, low) = (high, low)
            for index in stride(from: 25, through: 0, by: -1) {
                text[index] = Self.alphabet[Int(low & 31)]
                low = low >> 5 | high << 59
                high >>= 5
            }
            return 26
        }
    }

    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 26 else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for byte in text.utf8 {
            guard let digit = Self.alphabet.firstIndex(of: byte), high >> 59 == 0 else { return nil }
            high = high << 5 | low >> 59
            low = low << 5 | UInt64(digit)
        }
        self.init(high: high, low: low)
    }

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
}

/// Makes ULIDs in ascending order, even if the clock is set back.
///
/// Lists and cursors rely on this order: only one writer makes identifiers, so they sort in commit order.
public struct ULIDSequence: Sendable {
    private var last: ULID?
    private var random = SystemRandomNumberGenerator()

    /// - Parameter last: the largest ULID in use. After a restart, the sequence continues above it even if the clock
    ///   was set back.
    public init(after last: ULID? = nil) { self.last = last }

    /// Only the first identifier of a millisecond has new random bits, because the kernel takes 0.5 µs for them.
    public mutating func next(at time: Date) -> ULID {
        let next = last.flatMap { $0.isBefore(time) ? nil : $0.successor } ?? ULID(at: time, using: &random)
        last = next
        return next
    }
}
