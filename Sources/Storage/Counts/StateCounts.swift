import Downloads

/// The number of jobs in each state.
struct StateCounts: Sendable, Equatable {
    var queued = 0
    var running = 0
    var waiting = 0
    var paused = 0
    var succeeded = 0
    var failed = 0
    var cancelled = 0

    subscript(state: JobState.Name) -> Int {
        get {
            switch state {
            case .queued: queued
            case .running: running
            case .waiting: waiting
            case .paused: paused
            case .succeeded: succeeded
            case .failed: failed
            case .cancelled: cancelled
            }
        }
        set {
            switch state {
            case .queued: queued = newValue
            case .running: running = newValue
            case .waiting: waiting = newValue
            case .paused: paused = newValue
            case .succeeded: succeeded = newValue
            case .failed: failed = newValue
            case .cancelled: cancelled = newValue
            }
        }
    }

    /// The states with at least one job.
    var byState: [JobState.Name: Int] {
        JobState.Name.allCases.reduce(into: [:]) { if self[$1] > 0 { $0[$1] = self[$1] } }
    }

    static func - (left: StateCounts, right: StateCounts) -> StateCounts {
        JobState.Name.allCases.reduce(into: left) { $0[$1] -= right[$1] }
    }

    static func += (sum: inout StateCounts, other: StateCounts) {
        for state in JobState.Name.allCases { sum[state] += other[state] }
    }
}
