import Downloads
import Storage

/// The sender of a call, as far as this layer must know it.
public struct RPCCaller: Sendable {
    public let grant: Grant
    /// What the store must know of the caller.
    public let creator: JobCreator

    /// The entry of the audit log for an administrative change of this caller.
    public let note: AuditNote

    public init(grant: Grant, creator: JobCreator, note: AuditNote) {
        (self.grant, self.creator, self.note) = (grant, creator, note)
    }

    /// - Throws: an error that names the missing scope.
    func require(_ scope: Scope) throws(RPCError) {
        guard grant.scope >= scope else {
            throw RPCError(
                "This method needs the scope \(scope.rawValue); the token has the scope \(grant.scope.rawValue).")
        }
    }

    /// - Throws: an error if the session is invisible to the caller.
    func require(_ session: Name) throws(RPCError) {
        guard grant.sessions.contain(session) else {
            // The token must not learn the name of the session.
            throw RPCError("The token is bound to other sessions than that of this interface.")
        }
    }

    /// Callers that may not change a job don't see the query of its URL, which often contains a signature.
    var seesWholeURLs: Bool { grant.scope >= .jobs }
}
