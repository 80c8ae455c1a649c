import Foundation

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
