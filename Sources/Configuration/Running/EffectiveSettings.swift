import Foundation

/// What applies at a moment: the settings, and the limits that the schedule and the system make of them.
public struct EffectiveSettings: Sendable, Equatable {
    public var settings: RunningSettings
    /// Bytes per second of all transfers together; nil: no limit.
    public var rateLimit: Int64?
    /// Jobs that run at once on this service, also if it is the only one of a database; 0: no job begins.
    public var maxConcurrentJobs: Int
    /// Jobs that run at once on all nodes of a database together, as a client has set it; nil: only the limits of the nodes
    /// apply.
    public var maxConcurrentJobsOfAllNodes: Int?
    /// When the schedule changes the limits next; nil: never.
    public var until: Date?

    /// - Parameter stored: the names of the settings that clients have set.
    init(_ settings: RunningSettings, since start: StartSettings, stored: Set<SettingName>, at now: Date) {
        let scheduled = settings.schedule.limits(at: now)
        self.settings = settings
        rateLimit = settings.rateLimit
        if let rate = scheduled.limits.rateLimit { rateLimit = rate == 0 ? nil : rate }
        let jobs = scheduled.limits.maxConcurrentJobs ?? settings.maxConcurrentJobs
        let decisive: SettingName = scheduled.limits.maxConcurrentJobs == nil ? .maxConcurrentJobs : .schedule
        let isForAllNodes = start.isNode && stored.contains(decisive)
        maxConcurrentJobsOfAllNodes = isForAllNodes ? jobs : nil
        maxConcurrentJobs = min(jobs, isForAllNodes ? start.jobsOfNode : .max, start.mostConcurrentJobs)
        until = scheduled.until
    }
}

extension StartSettings {
    /// The limit of this node beside the one that a client has set for all nodes. A default does not limit it.
    fileprivate var jobsOfNode: Int {
        switch sources[.maxConcurrentJobs] {
        case .flag, .environment, .file: values.maxConcurrentJobs
        case .api, .default, nil: .max
        }
    }
}
