/// The progress of a running attempt. It is kept in memory and never written to the journal.
public struct LiveProgress: Sendable, Equatable {
    public enum Phase: String, Sendable, CaseIterable {
        case connecting, transferring, verifying, promoting, stopping
    }

    public var phase: Phase
    public var bytesReceived: Int64
    /// Bytes that are on disk and promised. They survive a crash.
    public var bytesDurable: Int64
    public var bytesExpected: Int64?
    /// nil before the first measurement.
    public var bytesPerSecond: Int64?
    public var resume: ResumeOutcome?
    /// Starts at 1, and increases when a view differs from the previous one. Within an attempt, views with the same
    /// tick are equal.
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
