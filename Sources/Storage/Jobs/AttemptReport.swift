import Downloads

/// What an attempt knows when it ends, written together with what becomes of the job.
public struct AttemptReport: Sendable {
    /// What is on disk now, synced; nil leaves the part as it was committed before.
    public var part: Part?
    /// Whether bytes were won, which begins the count of failures anew.
    public var hasGained: Bool
    /// How it began; nil when no response was accepted.
    public var resume: ResumeOutcome?
    /// Whether bytes that were written are lost because a sync failed: without a `part`, the one before is lost, too.
    public var hasSyncFailed: Bool
    /// Whether the part is not what was promised: another program has changed it.
    public var hasLostPart: Bool
    /// What a promotion was planned for; nothing is done when the job is to go elsewhere by now.
    public var destination: Destination?
    /// What the source was asked; nothing is done when it is to be asked otherwise by now.
    public var asked: JobSpec?

    public init(
        part: Part? = nil, hasGained: Bool = false, resume: ResumeOutcome? = nil, hasSyncFailed: Bool = false,
        hasLostPart: Bool = false,
        destination: Destination? = nil, asked: JobSpec? = nil
    ) {
        self.part = part
        self.hasGained = hasGained
        self.resume = resume
        self.hasSyncFailed = hasSyncFailed
        self.hasLostPart = hasLostPart
        self.destination = destination
        self.asked = asked
    }
}
