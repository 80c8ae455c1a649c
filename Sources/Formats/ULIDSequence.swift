import Foundation

/// Makes ULIDs of which each is larger than all before it, whatever the clock does.
///
/// Lists and cursors rely on it: identifiers are made by the one writer, so they sort in commit order.
public struct ULIDSequence: Sendable {
    private var last: ULID?
    private var random = SystemRandomNumberGenerator()

    /// - Parameter last: the largest one in use, so that a restart with a clock that was set back goes on above it.
    public init(after last: ULID? = nil) { self.last = last }

    public mutating func next(at time: Date) -> ULID {
        let candidate = ULID(at: time, using: &random)
        let next = last.map { candidate > $0 ? candidate : $0.successor } ?? candidate
        last = next
        return next
    }
}
