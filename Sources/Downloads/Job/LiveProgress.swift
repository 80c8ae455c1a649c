/// What is known of a running attempt and never written to the journal.
public struct LiveProgress: Sendable, Equatable {
    public enum Phase: String, Sendable, CaseIterable {
        case connecting, transferring, verifying, promoting, stopping
    }

    public var phase: Phase
    public var bytesReceived: Int64
    /// On disk, and promised: a crash leaves them.
    public var bytesDurable: Int64
    public var bytesExpected: Int64?
    /// nil before there is anything to measure.
    public var bytesPerSecond: Int64?
    public var resume: ResumeOutcome?
    /// Moves on, from 1, whenever anything above is seen to be different: within an attempt, views of one tick are equal.
    public var tick: Int64

    public init(
        phase: Phase, bytesReceived: Int64, bytesDurable: Int64, bytesExpected: Int64? = nil,
        bytesPerSecond: Int64? = nil, resume: ResumeOutcome? = nil, tick: Int64 = 1
    ) {
        self.tick = tick
        self.phase = phase
        self.bytesReceived = bytesReceived
        self.bytesDurable = bytesDurable
        self.bytesExpected = bytesExpected
        self.bytesPerSecond = bytesPerSecond
        self.resume = resume
    }
}
