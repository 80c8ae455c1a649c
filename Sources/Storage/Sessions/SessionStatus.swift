import Downloads
import Foundation

/// The committed status of a session.
public struct SessionStatus: Sendable, Equatable {
    public var session: Session
    public var counts: [JobState.Name: Int]
    public var bytesReceived: Int64
    /// nil when the size of an outstanding job is unknown, or when no job is outstanding.
    public var bytesExpected: Int64?
    /// The number of the latest batch; 0 before the first.
    public var batch: Int
    public var finishDueAt: Date?
    /// 0 before the first event.
    public var lastEvent: EventID
    public var acknowledgedThrough: EventID
    /// When the oldest finish ended whose acknowledgement is awaited; nil if there is none.
    public var unacknowledgedSince: Date?

    public init(
        session: Session, counts: [JobState.Name: Int], bytesReceived: Int64, bytesExpected: Int64?, batch: Int,
        finishDueAt: Date?, lastEvent: EventID, acknowledgedThrough: EventID, unacknowledgedSince: Date?
    ) {
        self.session = session
        self.counts = counts
        self.bytesReceived = bytesReceived
        self.bytesExpected = bytesExpected
        self.batch = batch
        self.finishDueAt = finishDueAt
        self.lastEvent = lastEvent
        self.acknowledgedThrough = acknowledgedThrough
        self.unacknowledgedSince = unacknowledgedSince
    }

    public enum State: String, Sendable, CaseIterable {
        /// No job is outstanding.
        case idle
        /// At least one job is outstanding.
        case active
        /// The session was deleted, and a job, a finish or a delivery is not settled yet.
        case finishing
    }

    public var state: State {
        if session.isFinishing { return .finishing }
        return counts.contains { $0.key.isOutstanding && $0.value > 0 } ? .active : .idle
    }
}
