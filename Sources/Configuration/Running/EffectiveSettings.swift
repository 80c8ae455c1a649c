import Foundation

/// What applies at a moment: the settings, and the limits that the schedule and the system make of them.
public struct EffectiveSettings: Sendable, Equatable {
    public var settings: RunningSettings
    /// Bytes per second of all transfers together; nil: no limit.
    public var rateLimit: Int64?
    /// 0: no job begins.
    public var maxConcurrentJobs: Int
    /// The limit at the start, which is that of one node of a database that several share.
    public var maxConcurrentJobsOfNode: Int
    /// The limit that a client or the schedule has set, which is that of all nodes together; nil: none.
    public var maxConcurrentJobsOfAllNodes: Int?
    /// When the schedule changes the limits next; nil: never.
    public var until: Date?

    /// - Parameter stored: the names of the settings that clients have set.
    init(_ settings: RunningSettings, since start: StartSettings, stored: Set<SettingName>, at now: Date) {
        let mostConcurrentJobs = start.mostConcurrentJobs
        let scheduled = settings.schedule.limits(at: now)
        self.settings = settings
        rateLimit = settings.rateLimit
        if let rate = scheduled.limits.rateLimit { rateLimit = rate == 0 ? nil : rate }
        maxConcurrentJobs = min(scheduled.limits.maxConcurrentJobs ?? settings.maxConcurrentJobs, mostConcurrentJobs)
        maxConcurrentJobsOfNode = min(start.values.maxConcurrentJobs, mostConcurrentJobs)
        maxConcurrentJobsOfAllNodes =
            scheduled.limits.maxConcurrentJobs
            ?? (stored.contains(.maxConcurrentJobs) ? settings.maxConcurrentJobs : nil)
        until = scheduled.until
    }
}
