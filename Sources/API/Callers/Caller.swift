import Downloads
import Storage

/// The sender of a request: what it may do, and what it is known as. It never changes. It is an object because every
/// request passes it on several times, and most requests have the same one.
final class Caller: Sendable {
    let grant: Grant
    /// Callers with another identity have their own `Idempotency-Key`s. It does not reveal the token.
    let identity: String
    /// The token of the request; nil for `FETCHD_TOKEN`, and for callers without a token.
    let token: Token?
    /// The secret that the caller has sent, by its digest; nil without a stored token.
    let digest: TokenDigest?
    /// How the caller has shown that it has these rights.
    let proof: Proof
    /// What a cookie or a ticket of this caller stands for; nil for callers without a token.
    let subject: SignIns.Subject?

    enum Proof: String, Sendable, CaseIterable {
        /// Requests from this machine need no token.
        case address
        case token, cookie, ticket
    }

    init(
        grant: Grant, identity: String, token: Token? = nil, digest: TokenDigest? = nil, proof: Proof = .address,
        subject: SignIns.Subject? = nil
    ) {
        (self.grant, self.identity, self.token, self.digest) = (grant, identity, token, digest)
        (self.proof, self.subject) = (proof, subject)
    }

    func shown(by proof: Proof) -> Caller {
        Caller(grant: grant, identity: identity, token: token, digest: digest, proof: proof, subject: subject)
    }

    /// The callers of routes that need no permission.
    static let unknown = Caller(grant: .nothing, identity: "")

    /// Another node of the same database, which has checked the caller.
    static let node = Caller(grant: .everything, identity: "node")

    var isAdministrator: Bool { grant.isAdministrator }

    /// The name in the audit log; nil for callers without a token.
    var label: String? { token?.id.text ?? (subject == nil ? nil : "FETCHD_TOKEN") }

    /// The sessions that exist for this caller.
    var visible: VisibleSessions { grant.sessions }

    /// Callers that may not change a job don't see the query of its URL, which often contains a signature.
    var audience: Job.Audience { grant.scope >= .jobs ? .client : .journal }

    /// Whether the caller may use a route. What the path names is checked later (`Visibility`).
    ///
    /// - Throws: 403, which names the missing scope.
    func require(_ scope: Scope, of subject: Access.Subject) throws(Problem) {
        guard grant.scope >= scope else {
            throw .forbidden(
                "This request needs the scope \(scope.rawValue); the token has the scope \(grant.scope.rawValue).",
                needing: scope)
        }
        guard subject != .service || !grant.isBound else {
            throw .forbidden(
                "This request is about the whole service; the token is bound to the sessions \(patterns).")
        }
    }

    /// - Parameter pointer: to the session's name in the body of the request.
    /// - Throws: 403 if the caller may not create anything in the session, whether or not the session exists.
    func requireWritable(_ session: Name, at pointer: String? = nil) throws(Problem) {
        guard !visible.contain(session) else { return }
        var problem = Problem.forbidden(
            "The token is bound to the sessions \(patterns), and this request is for the session \(session).")
        problem.pointer = pointer
        throw problem
    }

    /// What the store must know of the caller.
    var creator: JobCreator { JobCreator(visible: visible, token: token?.id, quotas: token?.quotas ?? .none) }

    private var patterns: String {
        switch visible {
        case .all: "*"
        case .matching(let patterns): patterns.map(\.text).joined(separator: ", ")
        }
    }
}

extension Problem {
    /// - Parameter scope: the scope that the caller lacks, in the body and in the form of RFC 6750, section 3.1.
    fileprivate static func forbidden(_ detail: String, needing scope: Scope? = nil) -> Problem {
        var problem = Problem(.forbidden, detail)
        guard let scope else { return problem }
        problem.members["scope"] = .string(scope.rawValue)
        problem.headers[.wwwAuthenticate] = "Bearer error=\"insufficient_scope\", scope=\"\(scope.rawValue)\""
        return problem
    }
}
