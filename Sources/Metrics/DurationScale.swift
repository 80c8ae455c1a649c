/// The buckets of a histogram of durations.
public enum DurationScale: Sendable, CaseIterable {
    /// Of requests that this service answers.
    case answers
    /// Of commits and syncs.
    case disk
    /// Of requests that this service sends.
    case requests
    /// Of downloads.
    case downloads

    /// Seconds, ascending.
    public var bounds: [Double] {
        switch self {
        case .answers: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
        case .disk: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
        case .requests: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]
        case .downloads: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200, 86_400]
        }
    }
}
