import Downloads
import Foundation

/// A finish whose acknowledgement is awaited.
public struct UnacknowledgedFinish: Sendable, Equatable {
    public var session: Name
    public var batch: Int
    /// The identifier of `session.finished`.
    public var event: EventID
    public var since: Date
    /// The start of its age: `since`, moved by the later jumps of the clock.
    public var agingSince: Date
}
