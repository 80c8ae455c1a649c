import Downloads
import Foundation

/// A session whose oldest finish nobody has acknowledged.
public struct UnacknowledgedFinish: Sendable, Equatable {
    public var session: Name
    public var batch: Int
    /// The number of its `session.finished`.
    public var event: EventID
    public var since: Date
    /// Moved by the jumps of the clock since then: its age is counted from here.
    public var agingSince: Date
}
