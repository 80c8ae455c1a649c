import Foundation

/// What applies at a moment: the settings, and the limits that the schedule and the system make of them.
public struct EffectiveSettings: Sendable, Equatable {
    public var settings: RunningSettings
    /// Bytes per second of all transfers together; nil: no limit.
    public var rateLimit: Int64?
    /// 0: no job begins.
    public var maxConcurrentJobs: Int
    /// When the schedule changes the limits next; nil: never.
    public var until: Date?

    /// - Parameter mostConcurrentJobs: what the system allows.
    init(_ settings: RunningSettings, at now: Date, mostConcurrentJobs: Int) {
        let scheduled = settings.schedule.limits(at: now)
        self.settings = settings
        rateLimit = settings.rateLimit
        if let rate = scheduled.limits.rateLimit { rateLimit = rate == 0 ? nil : rate }
        maxConcurrentJobs = min(scheduled.limits.maxConcurrentJobs ?? settings.maxConcurrentJobs, mostConcurrentJobs)
        until = scheduled.until
    }
}
