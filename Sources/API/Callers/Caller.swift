import Downloads
import Storage

/// The sender of a request: what it may do, and what it is known as. It never changes. It is an object because every
/// request passes it on several times, and most requests have the same one.
final class Caller: Sendable {
    let grant: Permissions
    /// Callers with another identity have their own `Idempotency-Key`s. It does not reveal the token.
    let identity: String
    /// The token of the request; nil for `FETCHD_TOKEN`, and for callers without a token.
    let token: Token?
    /// The secret that the caller has sent, by its digest; nil without a stored token.
    let digest: TokenDigest?
    let authMethod: AuthMethod
    /// What a cookie or a ticket of this caller stands for; nil for callers without a token.
    let subject: SessionCookies.Subject?

    enum AuthMethod: String, Sendable, CaseIterable {
        /// Requests from this machine need no token.
        case address
        case token, cookie, ticket
    }

    init(
        grant: Permissions, identity: String, token: Token? = nil, digest: TokenDigest? = nil,
        authMethod: AuthMethod = .address,
        subject: SessionCookies.Subject? = nil
    ) {
        self.grant = grant
        self.identity = identity
        self.token = token
        self.digest = digest
        self.authMethod = authMethod
        self.subject = subject
    }

    func authenticated(by method: AuthMethod) -> Caller {
        Caller(grant: grant, identity: identity, token: token, digest: digest, authMethod: method, subject: subject)
    }

    /// The callers of routes that need no permission.
    static let anonymous = Caller(grant: .nothing, identity: "")

    /// Another service of the same database, which has checked the caller.
    static let peer = Caller(grant: .everything, identity: "peer")

    var isAdministrator: Bool { grant.isAdministrator }

    /// The name in the audit log; nil for callers without a token.
    var label: String? { token?.id.text ?? (subject == nil ? nil : "FETCHD_TOKEN") }

    /// The sessions that exist for this caller.
    var visible: VisibleSessions { grant.sessions }

    /// Callers that may not change a job don't see the query of its URL, which often contains a signature.
    var audience: Job.Audience { grant.scope >= .jobs ? .full : .redacted }

    /// Whether the caller may use a route. What the path names is checked later (`SessionFilter`).
    /// - Throws: 403, which names the missing scope.
    func require(_ scope: Scope, of subject: Access.Subject) throws(Problem) {
        guard grant.scope >= scope else {
            // In the body, and in the form of RFC 6750, section 3.1.
            var problem = Problem(
                .forbidden,
                "This request needs the scope \(scope.rawValue); the token has the scope \(grant.scope.rawValue).",
                headers: [.wwwAuthenticate: "Bearer error=\"insufficient_scope\", scope=\"\(scope.rawValue)\""])
            problem.members["scope"] = .string(scope.rawValue)
            throw problem
        }
        guard subject != .service || !grant.isBound else {
            throw Problem(
                .forbidden, "This request is about the whole service; the token is bound to the sessions \(patterns).")
        }
    }

    /// - Parameter pointer: to the session's name in the body of the request.
    /// - Throws: 403 if the caller may not create anything in the session, whether or not the session exists.
    func requireWritable(_ session: Name, at pointer: String? = nil) throws(Problem) {
        guard !visible.contain(session) else { return }
        throw Problem(
            .forbidden,
            "The token is bound to the sessions \(patterns), and this request is for the session \(session).",
            at: pointer)
    }

    var creator: JobCreator { JobCreator(visible: visible, token: token?.id, quotas: token?.quotas ?? .none) }

    private var patterns: String {
        switch visible {
        case .all: "*"
        case .matching(let patterns): patterns.map(\.text).joined(separator: ", ")
        }
    }
}

/// Hides sessions from callers that are bound to other ones: such a caller gets the same 404 as for a name that does not exist.
///
/// A job and a delivery never change their session. So what was visible when the request began stays visible.
struct SessionFilter: Sendable {
    let store: Store

    func check(_ subject: Access.Subject, _ context: RequestContext) async throws {
        let visible = context.caller.visible
        guard visible != .all else { return }
        switch subject {
        case .service, .selection: break
        case .session:
            let session = try context.name("session")
            // An unknown session is created, so its absence is no answer to this request.
            if context.creates { return try context.caller.requireWritable(session) }
            guard visible.contain(session) else { throw StoreError.noSuchSession(session) }
        case .job:
            guard visible.contain(try await store.job(context.job).session) else {
                throw StoreError.noSuchJob(context.job)
            }
        case .delivery:
            let id = DeliveryID(context.parameter("id"))
            guard visible.contain(try await store.delivery(id).session) else { throw StoreError.noSuchDelivery(id) }
        }
    }
}

extension RequestContext {
    /// Whether the request creates the session that its path names, unless it exists.
    fileprivate var creates: Bool { head.method == .put && match.route.pattern.count == 3 }
}
