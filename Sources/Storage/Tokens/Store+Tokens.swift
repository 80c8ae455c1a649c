import Downloads
import Foundation
import GRDB

/// Creates, revokes and rotates tokens. The store sees no secrets, only their digests. `tokens` has the present tokens.
extension Store {
    public func createToken(_ new: NewToken, with digest: TokenDigest) async throws -> Token {
        try await writer.write(onCommit: { [tokens] in tokens.put($0) }) { try $0.createToken(new, with: digest) }.token
    }

    /// Revokes a token: requests with it are refused from now on.
    ///
    /// - Throws: `noSuchToken`.
    public func deleteToken(_ id: TokenID) async throws {
        try await writer.write(onCommit: { [tokens] in tokens.remove(id) }) { try $0.deleteToken(id) }
    }

    /// Replaces the secret of a token.
    ///
    /// - Parameter overlap: seconds for which the previous secret is still accepted. A secret before the previous one is
    ///   refused from now on.
    /// - Throws: `noSuchToken`.
    public func rotateToken(_ id: TokenID, to digest: TokenDigest, overlap: TimeInterval) async throws -> Token {
        try await writer.write(onCommit: { [tokens] in tokens.put($0) }) {
            try $0.rotateToken(id, to: digest, overlap: overlap)
        }.token
    }

    /// Removes what the jobs of tokens have received on earlier days.
    public func pruneTokenBytes() async throws {
        try await writer.write { try $0.pruneTokenBytes() }
    }

    /// Stores when tokens were last used, unless no token was used since the last call.
    public func storeTokenUses() async throws {
        let uses = tokens.takeUses()
        guard !uses.isEmpty else { return }
        do {
            try await writer.write { try $0.noteUses(uses) }
        } catch {
            tokens.giveBack(uses)
            throw error
        }
    }

    static func tokens(in connections: Connections) throws(StoreError) -> TokenTable {
        do {
            return TokenTable(
                try connections.read { db in try Row.fetchAll(db, sql: "SELECT * FROM tokens").map(TokenRow.token) })
        } catch {
            throw StoreError(error)
        }
    }
}
