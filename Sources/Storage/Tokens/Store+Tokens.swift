import Downloads
import Foundation

/// Creates, revokes and rotates tokens. The store sees no secrets, only their digests. `tokens` has the present tokens.
extension Store {
    /// - Parameter note: the entry of the audit log, without its target; nil: no entry.
    public func createToken(
        _ new: NewToken, with digest: TokenDigest, audit note: AuditNote? = nil
    ) async throws -> Token {
        try await writer.write(onCommit: { [tokens] in tokens.put($0) }) { transaction in
            let stored = try transaction.createToken(new, with: digest)
            try transaction.audit(note, target: stored.token.id.text)
            return stored
        }.token
    }

    /// Revokes a token: requests with it are refused from now on.
    ///
    /// - Throws: `noSuchToken`.
    public func deleteToken(_ id: TokenID, audit note: AuditNote? = nil) async throws {
        try await writer.write(onCommit: { [tokens] in tokens.remove(id) }) { transaction in
            try transaction.deleteToken(id)
            try transaction.audit(note)
        }
    }

    /// Replaces the secret of a token.
    ///
    /// - Parameter overlap: seconds for which the previous secret is still accepted. A secret before the previous one is
    ///   refused from now on.
    /// - Throws: `noSuchToken`.
    public func rotateToken(
        _ id: TokenID, to digest: TokenDigest, overlap: TimeInterval, audit note: AuditNote? = nil
    ) async throws -> Token {
        try await writer.write(onCommit: { [tokens] in tokens.put($0) }) { transaction in
            try transaction.audit(note)
            return try transaction.rotateToken(id, to: digest, overlap: overlap)
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

    static func tokens(in engine: any StoreEngine) throws(StoreError) -> TokenTable {
        do {
            return TokenTable(
                try engine.read { db in try db.rows("SELECT * FROM tokens").map(TokenRow.token) })
        } catch {
            throw StoreError(error)
        }
    }
}
