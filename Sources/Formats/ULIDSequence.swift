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

    public mutating func next(at time: Date) -> ULID {
        let candidate = ULID(at: time, using: &random)
        let next = last.map { candidate > $0 ? candidate : $0.successor } ?? candidate
        last = next
        return next
    }
}
