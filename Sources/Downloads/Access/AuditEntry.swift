import Foundation

/// An entry of the audit log: an administrative change, or the equal refusals of a minute.
public struct AuditEntry: Sendable, Equatable {
    public enum Outcome: String, Sendable, CaseIterable { case done, refused }

    /// Later entries have larger numbers.
    public let id: Int64
    /// Of the change, or of the first refusal.
    public var time: Date
    public var note: AuditNote
    public var outcome: Outcome
    /// Why a request was refused, as the last component of the problem's type; nil for a change.
    public var reason: String?
    /// What was replaced by what, for a change of a setting: `16 -> 4`.
    public var change: String?
    /// The number of equal refusals; 1 for a change.
    public var count: Int

    public init(
        id: Int64, time: Date, note: AuditNote, outcome: Outcome, reason: String?, change: String? = nil, count: Int
    ) {
        self.id = id
        self.time = time
        self.note = note
        self.outcome = outcome
        self.reason = reason
        self.change = change
        self.count = count
    }
}
