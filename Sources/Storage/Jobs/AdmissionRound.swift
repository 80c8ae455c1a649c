import Foundation

public struct AdmissionRound: Sendable {
    public var admitted: [AdmittedJob]
    /// When the next wait ends; nil while no job waits.
    public var nextWaitEnds: Date?
}
