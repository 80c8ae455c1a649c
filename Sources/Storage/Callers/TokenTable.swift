import Base
import Downloads
import Foundation
import Synchronization

/// All tokens in memory, as they are committed. Requests are authenticated on network threads, which must not read the
/// database.
///
/// The hooks of the writer update it, so a token that was revoked is refused as soon as the revocation is acknowledged.
public final class TokenTable: Sendable {
    public struct Match: Sendable {
        public let token: Token
        /// The stored digest, for a comparison in constant time.
        public let digest: TokenDigest
    }

    fileprivate struct State {
        var tokens: [TokenID: StoredToken] = [:]
        /// Also has the digests of previous secrets.
        var ids: [TokenDigest: TokenID] = [:]
        var version = 0
        /// Tokens whose last use is not stored yet.
        var used: Set<TokenID> = []
    }

    private let state: Locked<State>
    private let holdsAdministrator: Atomic<Bool>

    init(_ tokens: [StoredToken]) {
        var state = State()
        for token in tokens { state.put(token) }
        holdsAdministrator = Atomic(state.hasAdministrator)
        self.state = Locked(state)
    }

    /// Seconds between two noted uses of a token.
    public static let useInterval: TimeInterval = 60

    /// Whether a token of the scope `admin` exists, also if it has expired: an expiry must not open the service.
    public var hasAdministrator: Bool { holdsAdministrator.load(ordering: .acquiring) }

    public func admitsAdministrator(at now: Date) -> Bool {
        state.withLock { $0.tokens.values.contains { $0.token.grant.isAdministrator && !$0.token.isExpired(at: now) } }
    }

    public var all: [Token] { state.withLock { $0.tokens.values.map(\.token) }.sorted { $0.id.text < $1.id.text } }

    /// - Throws: `noSuchToken`.
    public func token(_ id: TokenID) throws(StoreError) -> Token {
        guard let token = state.withLock({ $0.tokens[id]?.token }) else { throw .noSuchToken(id) }
        return token
    }

    /// The digests of the secrets that the token has now: the present one, and the previous one during an overlap. Empty if the
    /// token does not exist.
    public func digests(of id: TokenID, at now: Date) -> [TokenDigest] {
        guard let stored = state.withLock({ $0.tokens[id] }) else { return [] }
        guard let former = stored.formerDigest, let until = stored.token.formerSecretUntil, now < until else {
            return [stored.digest]
        }
        return [stored.digest, former]
    }

    /// The first digest of a secret, or of a previous secret, that fulfils the condition. It takes as long as there are tokens.
    public func digest(where isWanted: (TokenDigest) -> Bool) -> TokenDigest? {
        let digests = state.withLock { Array($0.ids.keys) }
        return digests.first(where: isWanted)
    }

    /// The token of this secret, which may have expired; nil if no token has it, or no longer has it.
    public func match(_ digest: TokenDigest, at now: Date) -> Match? { state.withLock { $0.match(digest, at: now) } }

    /// The same, and notes that the token was used.
    public func use(_ digest: TokenDigest, at now: Date) -> Match? {
        state.withLock { state in
            let match = state.match(digest, at: now)
            if let token = match?.token, !token.isExpired(at: now) { state.noteUse(of: token, at: now) }
            return match
        }
    }
}

extension TokenTable {
    /// Called on the writer's thread, directly after a commit.
    func put(_ token: StoredToken) {
        change { state in
            state.version += 1
            state.put(token)
        }
    }

    func remove(_ id: TokenID) {
        change { state in
            state.version += 1
            state.remove(id)
        }
    }

    /// Changes with each change of a token by this service.
    var version: Int { state.withLock(\.version) }

    /// The tokens as another service has changed them. Uses that are not stored yet are kept.
    ///
    /// - Parameter version: from before the read.
    /// - Returns: false if this service has changed a token since; then nothing is replaced.
    func replaceAll(by tokens: [StoredToken], readAt version: Int) -> Bool {
        var isCurrent = true
        change { state in
            isCurrent = state.version == version
            guard isCurrent else { return }
            let gone = Set(state.tokens.keys).subtracting(tokens.map(\.token.id))
            for id in gone { state.remove(id) }
            for token in tokens { state.put(token) }
        }
        return isCurrent
    }

    private func change(_ body: (inout State) -> Void) {
        let hasAdministrator = state.withLock { state in
            body(&state)
            return state.hasAdministrator
        }
        holdsAdministrator.store(hasAdministrator, ordering: .releasing)
    }

    func takeUses() -> [TokenID: Date] {
        state.withLock { state in
            defer { state.used = [] }
            return state.used.reduce(into: [:]) { $0[$1] = state.tokens[$1]?.token.lastUsedAt }
        }
    }

    func giveBack(_ uses: [TokenID: Date]) { state.withLock { $0.used.formUnion(uses.keys) } }
}

extension TokenTable.State {
    fileprivate var hasAdministrator: Bool { tokens.values.contains { $0.token.grant.isAdministrator } }

    fileprivate mutating func put(_ new: StoredToken) {
        let lastUsedAt = tokens[new.token.id]?.token.lastUsedAt
        remove(new.token.id)
        var new = new
        // The database may not have the last use yet.
        new.token.lastUsedAt = [new.token.lastUsedAt, lastUsedAt].compactMap(\.self).max()
        tokens[new.token.id] = new
        ids[new.digest] = new.token.id
        if let former = new.formerDigest { ids[former] = new.token.id }
    }

    fileprivate mutating func remove(_ id: TokenID) {
        guard let old = tokens.removeValue(forKey: id) else { return }
        ids[old.digest] = nil
        if let former = old.formerDigest { ids[former] = nil }
    }

    fileprivate func match(_ digest: TokenDigest, at now: Date) -> TokenTable.Match? {
        guard let stored = ids[digest].flatMap({ tokens[$0] }) else { return nil }
        if stored.digest == digest { return TokenTable.Match(token: stored.token, digest: stored.digest) }
        guard let former = stored.formerDigest, let until = stored.token.formerSecretUntil, now < until else {
            return nil
        }
        return TokenTable.Match(token: stored.token, digest: former)
    }

    fileprivate mutating func noteUse(of token: Token, at now: Date) {
        if let last = token.lastUsedAt, abs(now.timeIntervalSince(last)) < TokenTable.useInterval { return }
        tokens[token.id]?.token.lastUsedAt = now
        used.insert(token.id)
    }
}
