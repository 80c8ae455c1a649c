/// The settings with which the service is started: those of options, environment, file and defaults.
public struct StartSettings: Sendable, Equatable {
    public var values: RunningSettings
    /// A setting without a source has its default.
    public var sources: [SettingName: SettingSource]
    /// The largest number of jobs that the system lets run at once.
    public var mostConcurrentJobs: Int
    /// Whether several services can share the database. Then the jobs that a client allows are those of all of them together,
    /// and the start sets the limit of this one.
    public var isNode: Bool

    public init(
        _ values: RunningSettings = RunningSettings(), sources: [SettingName: SettingSource] = [:],
        mostConcurrentJobs: Int = .max, isNode: Bool = false
    ) {
        (self.values, self.sources) = (values, sources)
        (self.mostConcurrentJobs, self.isNode) = (mostConcurrentJobs, isNode)
    }
}
