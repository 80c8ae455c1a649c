import Formats
import Foundation

/// Why a queued job does not run yet, and its place in the queue. Nothing of it is stored: it follows from the other jobs, the
/// limits and the gates of the hosts at one moment.
public struct QueueEntry: Sendable, Hashable {
    /// What keeps a queued job from running. Of several causes, the first one of this list is shown.
    public enum Blocker: String, Sendable, CaseIterable {
        /// The job's `not_before` has not come.
        case notBefore = "not_before"
        /// The schedule of the service lets no job begin.
        case schedule
        /// The gate of the job's host is closed (`HostGate`).
        case hostPaused = "host_paused"
        /// The token that created the job has received the bytes of its day.
        case bandwidth
        /// The session's number of running jobs.
        case sessionLimit = "session_limit"
        /// The number of connections to the host, or the pace of the requests to it.
        case hostLimit = "host_limit"
        /// The number of running jobs of the service, or of the token that created the job.
        case serviceLimit = "service_limit"
    }

    /// nil: the job starts as soon as fetchd looks at it.
    public var blockedBy: Blocker?
    /// When this cause ends, if a time ends it. Another cause may follow.
    public var until: Date?
    /// The queued jobs of the session that start before this one, 0 or more. Jobs that are held until a time are not counted.
    /// nil: not determined.
    public var position: Int?

    public init(blockedBy blocker: Blocker? = nil, until: Date? = nil, position: Int? = nil) {
        (blockedBy, self.until, self.position) = (blocker, until, position)
    }

    /// What the job itself says.
    init(of job: Job) {
        let moment = job.spec.notBefore.flatMap { job.startedAt == nil && $0 > job.createdAt ? $0 : nil }
        self.init(blockedBy: moment == nil ? nil : .notBefore, until: moment)
    }

    public func writeMembers(to writer: inout JSONWriter) {
        writer.member("blocked_by", blockedBy?.rawValue)
        writer.member("until", until)
        writer.member("position", position)
    }
}
