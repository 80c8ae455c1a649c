/// The settings with which the service is started: those of options, environment, file and defaults.
public struct StartSettings: Sendable, Equatable {
    public var values: RunningSettings
    /// A setting without a source has its default.
    public var sources: [SettingName: SettingSource]
    /// The largest number of jobs that the system lets run at once.
    public var mostConcurrentJobs: Int

    public init(
        _ values: RunningSettings = RunningSettings(), sources: [SettingName: SettingSource] = [:],
        mostConcurrentJobs: Int = .max
    ) {
        (self.values, self.sources, self.mostConcurrentJobs) = (values, sources, mostConcurrentJobs)
    }
}
