import Aria2RPC
import Downloads
import HTTPServer
import Locks
import Storage

/// Finds the callers of aria2's calls: by the secret of each call, or by the `Authorization` field of the request. Each call
/// is authenticated, and counts as a request of its token, because a message can have many.
struct Aria2Callers: Sendable {
    private let head: RequestHead
    private let needsToken: Bool
    private let authentication: Authentication
    private let rates: RequestRates
    private let store: Store
    /// The first caller that was found.
    private let first = Locked<Caller?>(nil)

    init(head: RequestHead, needsToken: Bool, routes: Aria2Routes) {
        self.init(
            head: head, needsToken: needsToken, authentication: routes.authentication, rates: routes.rates,
            store: routes.store)
    }

    init(
        head: RequestHead, needsToken: Bool, authentication: Authentication, rates: RequestRates, store: Store
    ) {
        (self.head, self.needsToken) = (head, needsToken)
        (self.authentication, self.rates, self.store) = (authentication, rates, store)
    }

    /// - Parameter secret: a token of the service; nil: the call has none.
    func caller(_ secret: String?) throws(RPCError) -> RPCCaller {
        do throws(Problem) {
            let caller = try admitted(secret)
            return RPCCaller(
                grant: caller.grant, creator: caller.creator, note: AuditNote(head, ofAria2: caller))
        } catch {
            if error.kind.isAudited {
                store.refusals.add(AuditNote(head, ofAria2: nil), error.kind.rawValue, at: store.time.now)
            }
            // Clients recognize this text.
            throw error.kind == .unauthorized ? .unauthorized : RPCError(error.detail)
        }
    }

    private func admitted(_ secret: String?) throws(Problem) -> Caller {
        let caller = try authentication.caller(of: head, secret: secret)
        if needsToken, caller.proof != .token {
            throw Problem(.forbidden, "A GET without a token cannot change anything. Send a POST.")
        }
        try rates.check(caller)
        first.withLock { $0 = $0 ?? caller }
        return caller
    }

    /// Who holds the memory of the answer: the first caller, or, as long as there is none, the client's address.
    var holder: String { first.withLock(\.self)?.identity ?? head.remoteAddress }
}
