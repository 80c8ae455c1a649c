import Downloads
import Foundation

/// How a session stands, as persisted.
public struct SessionStatus: Sendable, Equatable {
    public var session: Session
    public var counts: [JobState.Name: Int]
    public var bytesReceived: Int64
    /// nil when some outstanding job's size is unknown, or there is none.
    public var bytesExpected: Int64?
    /// The latest batch's number; 0 before the first.
    public var batch: Int
    public var finishDueAt: Date?
    /// 0 before the first.
    public var lastEvent: EventID
    public var acknowledgedThrough: EventID
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
        /// Nothing is outstanding.
        case idle
        /// Some job is.
        case active
        /// Deleted, and not settled yet.
        case finishing
    }

    public var state: State {
        if session.isFinishing { return .finishing }
        return counts.contains { $0.key.isOutstanding && $0.value > 0 } ? .active : .idle
    }
}
