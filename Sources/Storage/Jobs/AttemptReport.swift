import Downloads

/// The findings of an attempt. The store commits them together with the next state of the job.
public struct AttemptReport: Sendable {
    /// `Job.admissions` of the attempt. If the job was admitted again since, the outcome is `superseded`; nil: not an attempt.
    public var admission: Int?
    /// The part as it is on the disk, synced; nil leaves the committed part unchanged.
    public var part: Part?
    /// All bytes that the attempt has received up to now, also those that are in no part.
    public var received: Int64
    /// Whether the attempt has received new bytes. Then the count of failures in a row starts again.
    public var hasGained: Bool
    /// How the transfer began; nil when no response was accepted.
    public var resume: ResumeOutcome?
    /// Whether written bytes are lost because a sync failed. If `part` is nil, the committed part is lost as well.
    public var hasSyncFailed: Bool
    /// Whether another program has changed or removed the promised part.
    public var hasLostPart: Bool
    /// The destination that a promotion was planned for. If the job has another destination now, the outcome is
    /// `stale`.
    public var destination: Destination?
    /// The specification that the attempt used, if its end depends on it. If clients have changed the job or its
    /// session since, so that another attempt could end in another way, the outcome is `stale`.
    public var spec: ResolvedSpec?

    public init(
        admission: Int? = nil, part: Part? = nil, received: Int64 = 0, hasGained: Bool = false,
        resume: ResumeOutcome? = nil,
        hasSyncFailed: Bool = false,
        hasLostPart: Bool = false,
        destination: Destination? = nil, spec: ResolvedSpec? = nil
    ) {
        self.admission = admission
        self.part = part
        self.received = received
        self.hasGained = hasGained
        self.resume = resume
        self.hasSyncFailed = hasSyncFailed
        self.hasLostPart = hasLostPart
        self.destination = destination
        self.spec = spec
    }
}
