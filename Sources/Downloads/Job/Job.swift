import Foundation

/// One download.
public struct Job: Sendable, Equatable {
    public let id: JobID
    public let session: Name
    /// The number of its batch within the session.
    public var batch: Int
    public var state: JobState
    /// Counts the committed changes of this job; the first half of its ETag.
    public var revision: Int
    public var spec: JobSpec
    /// Which of its addresses is asked now: 0 is `url`, the others are mirrors.
    public var mirror: Int

    public let createdAt: Date
    /// When the first attempt of the run began.
    public var startedAt: Date?
    /// When it became terminal.
    public var finishedAt: Date?

    /// Attempts of this run, interrupted ones not counted.
    public var attempts: Int
    /// Attempts that failed since bytes were last gained.
    public var failuresInARow: Int
    /// How the latest attempt began.
    public var resume: ResumeOutcome?
    /// What is left of `timeouts.resource_seconds`; nil before the first attempt, and in the end.
    public var resourceTime: Countdown?
    /// The bytes had so far, as committed; nil before the first checkpoint, and once they have become the file.
    public var part: Part?
    /// The job's resume data was removed, because it expired, exceeded the limit or was found wrong. The event of its next
    /// start says so.
    public var isPartLost: Bool
    /// The last attempt lost bytes because a sync failed: its next beginning says so.
    public var hasSyncFailed: Bool
    /// The bytes of several attempts together did not match the expected digest, and the job was restarted. That happens
    /// once in a run; from then on bytes are combined only with proof that they belong together.
    public var isDisproved: Bool

    public init(
        id: JobID, session: Name, batch: Int, state: JobState = .queued, revision: Int = 1, spec: JobSpec,
        mirror: Int = 0, createdAt: Date, startedAt: Date? = nil, finishedAt: Date? = nil, attempts: Int = 0,
        failuresInARow: Int = 0, resume: ResumeOutcome? = nil, resourceTime: Countdown? = nil, part: Part? = nil,
        isPartLost: Bool = false, hasSyncFailed: Bool = false, isDisproved: Bool = false
    ) {
        self.id = id
        self.session = session
        self.batch = batch
        self.state = state
        self.revision = revision
        self.spec = spec
        self.mirror = mirror
        self.createdAt = createdAt
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.attempts = attempts
        self.failuresInARow = failuresInARow
        self.resume = resume
        self.resourceTime = resourceTime
        self.part = part
        self.isPartLost = isPartLost
        self.hasSyncFailed = hasSyncFailed
        self.isDisproved = isDisproved
    }

    /// The address that is asked now.
    public var url: String { mirror == 0 ? spec.url : spec.mirrors[min(mirror, spec.mirrors.count) - 1] }

    /// When the job exceeds the first of its time limits; nil without one.
    public var failsAt: Date? {
        guard state.isOutstanding else { return nil }
        return [spec.deadline, resourceTime?.end].compactMap { $0 }.min()
    }

    /// Bytes on disk, synced.
    public var bytesDurable: Int64 { state.finish?.file.size ?? part?.bytesDurable ?? 0 }
    /// The whole size, once a response told it and a checkpoint kept it.
    public var bytesExpected: Int64? { state.finish?.file.size ?? part?.size }
}
