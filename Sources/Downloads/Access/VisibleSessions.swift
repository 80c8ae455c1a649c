/// The sessions that a caller may see.
public enum VisibleSessions: Sendable, Hashable {
    case all
    /// The sessions that match at least one of the patterns.
    case matching([SessionPattern])

    public func contain(_ session: Name) -> Bool {
        switch self {
        case .all: true
        case .matching(let patterns): patterns.contains { $0.matches(session) }
        }
    }
}
