/// What a caller may do, in which sessions, and to which locations its files may go.
public struct Permissions: Sendable, Hashable {
    public let scope: Scope
    public let sessions: VisibleSessions
    /// nil: all locations.
    public let locations: [Name]?

    /// nil for an administrator of some sessions or locations only: an administrator can make a token for all of them.
    public init?(_ scope: Scope, in sessions: VisibleSessions = .all, to locations: [Name]? = nil) {
        guard scope != .admin || sessions == .all && locations == nil else { return nil }
        self.init(trusted: scope, in: sessions, to: locations)
    }

    private init(trusted scope: Scope, in sessions: VisibleSessions, to locations: [Name]? = nil) {
        self.scope = scope
        self.sessions = sessions
        self.locations = locations
    }

    public func allow(_ location: Name) -> Bool { locations?.contains(location) ?? true }

    public static let everything = Permissions(trusted: .admin, in: .all)
    /// The caller may do only what needs no permission.
    public static let nothing = Permissions(trusted: .read, in: .matching([]))

    public var isAdministrator: Bool { scope == .admin }

    public var isBound: Bool { sessions != .all }
}

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

public enum VisibleSessions: Sendable, Hashable {
    case all
    case matching([SessionPattern])

    public func contain(_ session: Name) -> Bool {
        switch self {
        case .all: true
        case .matching(let patterns): patterns.contains { $0.matches(session) }
        }
    }
}

/// The sessions that a token is bound to: one name, or all names with a beginning (`films*`).
public struct SessionPattern: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// nil if the text is neither a name nor a name with a star at its end. A star alone is refused: a token of all
    /// sessions has no patterns.
    public init?(_ text: String) {
        let beginning = text.hasSuffix("*") ? String(text.dropLast()) : text
        guard Name(beginning) != nil else { return nil }
        self.text = text
    }

    /// Makes a pattern that was validated before it was stored.
    public init(trusted text: String) { self.text = text }

    public func matches(_ session: Name) -> Bool {
        beginning.map { session.text.hasPrefix($0) } ?? (session.text == text)
    }

    /// The beginning of all names that match; nil if the pattern is one name.
    public var beginning: String? { text.hasSuffix("*") ? String(text.dropLast()) : nil }

    public var description: String { text }
}
