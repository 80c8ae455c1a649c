import Formats
import Foundation
import HTTPSemantics

public struct Job: Sendable, Equatable {
    public let id: JobID
    public let session: Name
    /// The token that created the job; nil: another caller, or an earlier version of fetchd.
    public let token: TokenID?
    /// The trace of the request that created the job; nil if the request named none.
    public let trace: TraceContext?
    /// The identifier in aria2's RPC that is stored with the job; nil: `aria2GID` derives one.
    public let gid: GID?
    public var batch: Int
    public var state: JobState
    /// Increases with each committed change of the job. It is the first half of the job's ETag.
    public var revision: Int
    @Shared public var spec: JobSpec
    /// The index of the URL in use: 0 is `url`, the others are mirrors.
    public var mirror: Int
    /// The place in the queue that a client has moved the job to; nil if the job was never moved.
    public var queueRank: QueueRank?
    /// The number of the node on which the job runs, or on which it has succeeded; nil in a database of one service, and in all
    /// other states.
    public var node: Int64?

    public let createdAt: Date
    public var startedAt: Date?
    public var finishedAt: Date?
    /// Attempts in this run. An attempt does not count if fetchd interrupted it, or if it met a full disk, a storage
    /// error or a missing network.
    public var attempts: Int
    /// How often the job was admitted. It is never lowered, so it identifies the present attempt.
    public var admissions: Int
    /// Failed attempts since the job last received new bytes.
    public var failuresInARow: Int
    /// How often the host held off an attempt, which was not counted.
    public var timesHeldOff: Int
    public var resume: ResumeOutcome?
    /// The remaining `timeouts.resource_seconds`; nil before the first attempt and in terminal states.
    public var resourceTime: Countdown?
    /// The received bytes, as committed; nil before the first checkpoint, and after the part was removed or became the file.
    @SharedOptional public var part: Part?
    /// The job's resume data was removed, because it expired, exceeded the limit or was found wrong. The event of the
    /// next start says so.
    public var isPartLost: Bool
    /// The last attempt lost bytes because a sync failed. The event of the next start says so.
    public var hasSyncFailed: Bool
    /// The bytes of several responses together did not match the expected digest, and the job was restarted. This happens at
    /// most once for each URL in a run. From then on, bytes are combined only with proof that they belong together.
    public var isCorrupt: Bool
    /// nil: in this run, no server has stated a digest of the present version.
    public var stated: StatedDigests?

    public init(
        id: JobID, session: Name, token: TokenID? = nil, gid: GID? = nil, batch: Int, state: JobState = .queued,
        revision: Int = 1, spec: JobSpec, trace: TraceContext? = nil, mirror: Int = 0, queueRank: QueueRank? = nil,
        node: Int64? = nil, createdAt: Date, startedAt: Date? = nil, finishedAt: Date? = nil, attempts: Int = 0,
        admissions: Int = 0, failuresInARow: Int = 0, timesHeldOff: Int = 0, resume: ResumeOutcome? = nil,
        resourceTime: Countdown? = nil,
        part: Part? = nil,
        isPartLost: Bool = false, hasSyncFailed: Bool = false, isCorrupt: Bool = false,
        stated: StatedDigests? = nil
    ) {
        self.id = id
        self.session = session
        self.token = token
        self.trace = trace
        self.gid = gid
        self.batch = batch
        self.state = state
        self.revision = revision
        _spec = Shared(wrappedValue: spec)
        self.mirror = mirror
        self.queueRank = queueRank
        self.node = node
        self.createdAt = createdAt
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.attempts = attempts
        self.admissions = admissions
        self.failuresInARow = failuresInARow
        self.timesHeldOff = timesHeldOff
        self.resume = resume
        self.resourceTime = resourceTime
        self.part = part
        self.isPartLost = isPartLost
        self.hasSyncFailed = hasSyncFailed
        self.isCorrupt = isCorrupt
        self.stated = stated
    }

    public var url: String {
        let others = mirror == 0 ? [] : spec.alternatives
        return others.isEmpty ? spec.url : others[min(mirror, others.count) - 1]
    }

    public var aria2GID: GID { gid ?? GID(of: id) }

    public var effectiveQueueRank: QueueRank { queueRank ?? QueueRank(of: id) }

    /// The earlier of the job's time limits; nil if the job has no time limit or has ended.
    public var failsAt: Date? {
        guard state.isOutstanding else { return nil }
        guard let deadline = spec.deadline, let end = resourceTime?.end else {
            return spec.deadline ?? resourceTime?.end
        }
        return min(deadline, end)
    }

    /// The number of bytes that are on disk and synced.
    public var bytesDurable: Int64 { state.finish?.file.size ?? part?.bytesDurable ?? 0 }
    /// The size of the file; nil until a response has stated it and a checkpoint has stored it.
    public var bytesExpected: Int64? { state.finish?.file.size ?? part?.size }
}

/// A job's identifier: `job_` and a ULID. Identifiers sort in the order in which jobs were created.
public struct JobID: Sendable, Hashable, CustomStringConvertible {
    public let text: String
    public init(_ text: String) { self.text = text }
    public static func make(_ ulid: ULID) -> JobID { JobID("job_\(ulid)") }
    public var description: String { text }
}

extension Job {
    public func becoming(_ next: JobState, on signal: JobSignal, at now: Date) -> Job {
        var job = self
        job.state = next
        job.revision += 1
        job.note(signal, at: now)
        if next.isTerminal { job.finishedAt = now }
        if !next.belongsToNode { job.node = nil }
        if next.finish != nil || signal.dropsPart(ofCancelled: next) {
            job.part = nil
            job.isPartLost = false
            job.hasSyncFailed = false
        }
        if signal.failure?.provesCorruption ?? false { job.dropDisproved(on: signal) }
        job.setClocks(at: now)
        return job
    }

    /// Stops the time limit while the job is paused, and removes it when the job has ended. The expiry of the part
    /// follows the state.
    private mutating func setClocks(at now: Date) {
        switch state {
        case .paused: resourceTime = resourceTime?.stopping(at: now)
        case .queued, .running, .waiting: resourceTime = resourceTime?.running(at: now)
        case .succeeded, .failed, .cancelled: resourceTime = nil
        }
        if let expiry = part?.expiry.after(state, at: now) { part?.expiry = expiry }
    }

    /// Discards bytes that are known to be wrong. A deferred job continues at the same URL, so its next start must report the
    /// loss. A failed job has reported the loss already, and the next URL is asked for the whole file in any case.
    private mutating func dropDisproved(on signal: JobSignal) {
        let isDeferred = if case .attemptDeferred = signal { true } else { false }
        isCorrupt = isDeferred
        if isDeferred, part?.lacksWrongPieces ?? false { return }
        part = nil
        isPartLost = isDeferred
    }

    private mutating func note(_ signal: JobSignal, at now: Date) {
        switch signal {
        case .admitted:
            startedAt = startedAt ?? now
            attempts += 1
            admissions += 1
        case .attemptInterrupted:
            // The download did not cause the interruption, so the attempt does not count.
            attempts = max(0, attempts - 1)
        case .attemptDeferred(let wait) where wait.name == .space || wait.name == .storage || wait.name == .network:
            attempts = max(0, attempts - 1)
        case .attemptDeferred, .attemptFailed:
            failuresInARow += 1
        case .attemptHeldOff:
            attempts = max(0, attempts - 1)
            timesHeldOff += 1
        case .attemptDiverted:
            // The failures of the previous server do not count for the next one. (If a PATCH has replaced the URLs, no
            // mirror may be left: hence `min`.)
            failuresInARow = 0
            isCorrupt = false
            mirror = min(mirror + 1, spec.alternatives.count)
        case .retryRequested:
            finishedAt = nil
            startedAt = nil
            attempts = 0
            failuresInARow = 0
            timesHeldOff = 0
            isCorrupt = false
            stated = nil
            mirror = 0
            if spec.discovery != nil { spec.discovery = nil }
        case .waitEnded, .pauseRequested, .resumeRequested, .cancelRequested, .inputSupplied, .timeElapsed,
            .attemptStopped, .finalizePlanned, .finalized:
            break
        }
    }
}

extension JobSignal {
    fileprivate var failure: Failure? {
        switch self {
        case .attemptDeferred(let wait), .attemptHeldOff(let wait), .attemptDiverted(let wait): wait.cause
        case .attemptFailed(let failure): failure
        default: nil
        }
    }

    /// Whether the part of a cancelled job is removed: always, unless the client asked to keep it.
    fileprivate func dropsPart(ofCancelled next: JobState) -> Bool {
        guard next == .cancelled else { return false }
        return switch self {
        case .cancelRequested(let keepsPart), .attemptStopped(.cancel(let keepsPart)): !keepsPart
        default: true
        }
    }
}

/// The progress of a running attempt. It is kept in memory and never written to the journal.
public struct LiveProgress: Sendable, Equatable {
    public enum Phase: String, Sendable, CaseIterable {
        case connecting, transferring, verifying, promoting, stopping
    }

    public var phase: Phase
    public var bytesReceived: Int64
    /// The number of bytes that are on disk and committed. They survive a crash.
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
