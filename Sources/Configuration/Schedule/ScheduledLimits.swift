import Foundation

/// What a schedule says at a moment.
public struct ScheduledLimits: Sendable, Equatable {
    public var limits = ScheduleLimits()
    /// When the limits change next; nil: never.
    public var until: Date?

    public init(_ limits: ScheduleLimits = ScheduleLimits(), until: Date? = nil) {
        (self.limits, self.until) = (limits, until)
    }
}
