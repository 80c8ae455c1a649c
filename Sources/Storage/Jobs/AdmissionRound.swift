import Foundation

public struct AdmissionRound: Sendable {
    public var admitted: [AdmittedJob]
    /// The time at which the next wait ends; nil when no job waits for a time.
    public var nextWaitEnds: Date?
}
