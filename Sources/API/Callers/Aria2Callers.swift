import Aria2RPC
import Downloads
import HTTPServer
import Locks
import Storage

/// Finds the callers of aria2's calls: by the secret of each call, or by the `Authorization` field of the request. The
/// message counts once for the requests per second of each token.
struct Aria2Callers: Sendable {
    private let head: RequestHead
    private let needsToken: Bool
    private let authentication: Authentication
    private let rates: RequestRates
    private let store: Store
    private let known = Locked<[String?: Caller]>([:])

    init(head: RequestHead, needsToken: Bool, routes: Aria2Routes) {
        (self.head, self.needsToken) = (head, needsToken)
        (authentication, rates, store) = (routes.authentication, routes.rates, routes.store)
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
        if let caller = known.withLock({ $0[secret] }) { return caller }
        let caller = try authentication.caller(of: head, secret: secret)
        if needsToken, caller.proof != .token {
            throw Problem(.forbidden, "A GET without a token cannot change anything. Send a POST.")
        }
        try rates.check(caller)
        known.withLock { $0[secret] = caller }
        return caller
    }
}
