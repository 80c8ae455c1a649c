/// What a caller may do, and in which sessions.
public struct Grant: Sendable, Hashable {
    public let scope: Scope
    public let sessions: VisibleSessions

    /// nil for an administrator of some sessions only: an administrator can make a token for all sessions.
    public init?(_ scope: Scope, in sessions: VisibleSessions = .all) {
        guard scope != .admin || sessions == .all else { return nil }
        self.init(trusted: scope, in: sessions)
    }

    private init(trusted scope: Scope, in sessions: VisibleSessions) {
        self.scope = scope
        self.sessions = sessions
    }

    public static let everything = Grant(trusted: .admin, in: .all)
    /// Only what needs no permission.
    public static let nothing = Grant(trusted: .read, in: .matching([]))

    public var isAdministrator: Bool { scope == .admin }

    /// Whether some sessions may be invisible.
    public var isBound: Bool { sessions != .all }
}
