/// What a caller may do. Each scope includes those before it.
public enum Scope: String, Sendable, CaseIterable, Comparable {
    /// Read jobs, sessions, webhooks, deliveries, events and finished files.
    case read
    /// Also create, change and delete jobs, and read their complete URLs and their resume data.
    case jobs
    /// Also declare, change and delete sessions and webhooks, and acknowledge finishes.
    case sessions
    /// Everything, including the tokens of all callers.
    case admin

    public static func < (one: Scope, other: Scope) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .read: 0
        case .jobs: 1
        case .sessions: 2
        case .admin: 3
        }
    }
}
