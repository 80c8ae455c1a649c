import Foundation

/// An entry of the audit log: an administrative change, or the equal refusals of a minute.
public struct AuditEntry: Sendable, Equatable {
    public enum Outcome: String, Sendable, CaseIterable { case done, refused }

    /// Later entries have larger numbers.
    public let id: Int64
    /// The time of the change, or of the first refusal.
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

/// Who asked for what. It contains no secrets.
public struct AuditNote: Sendable, Hashable {
    /// The identifier of the token, or `FETCHD_TOKEN`; nil without a token, or with one that is not known.
    public var caller: String?
    public var name: Name?
    public var address: String
    /// The method and the pattern of the path: `PUT /v1/sessions/{session}`.
    public var action: String
    /// What the path names, or what was created; nil if the request was refused before it was read.
    public var target: String?

    public init(caller: String?, name: Name?, address: String, action: String, target: String? = nil) {
        self.caller = caller
        self.name = name
        self.address = address
        self.action = action
        self.target = target
    }
}
