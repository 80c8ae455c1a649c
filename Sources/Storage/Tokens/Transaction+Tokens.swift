import Downloads
import Formats
import Foundation

extension Transaction {
    func createToken(_ new: NewToken, with digest: TokenDigest) throws -> StoredToken {
        let id = TokenID.make(nextULID())
        try run(
            """
            INSERT INTO tokens (id, digest, name, scope, sessions, quotas, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                id.text, Data(digest.bytes), new.name?.text, new.grant.scope.rawValue,
                try new.grant.sessions.storedText(), try Stored.text(new.quotas), now.milliseconds,
                new.expiresAt?.milliseconds,
            ])
        working.transferQuotas.forget(.all)
        wake(.tokens)
        return try token(id)
    }

    func deleteToken(_ id: TokenID) throws {
        _ = try token(id)
        try run("DELETE FROM tokens WHERE id = ?", [id.text])
        working.transferQuotas.forget(.all)
        wake(.tokens)
        // Its quotas no longer delay its jobs.
        wake(.jobs)
    }

    func rotateToken(_ id: TokenID, to digest: TokenDigest, overlap: TimeInterval) throws -> StoredToken {
        let old = try token(id)
        let keepsFormer = overlap > 0
        try run(
            "UPDATE tokens SET digest = ?, former_digest = ?, former_until = ? WHERE id = ?",
            [
                Data(digest.bytes), keepsFormer ? Data(old.digest.bytes) : nil,
                keepsFormer ? now.addingTimeInterval(overlap).milliseconds : nil, id.text,
            ])
        wake(.tokens)
        return try token(id)
    }

    /// Keeps a later use that another node has stored. A use in the future is from before the clock was set back, and is
    /// replaced.
    func noteUses(_ uses: [TokenID: Date]) throws {
        for (id, time) in uses { try run(Self.noteUse, [time.milliseconds, id.text, now.milliseconds]) }
    }

    private static let noteUse = """
        UPDATE tokens SET last_used_at = ?1
        WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1 OR last_used_at > ?3)
        """

    private func token(_ id: TokenID) throws -> StoredToken {
        guard let row = try row("SELECT * FROM tokens WHERE id = ?", [id.text]) else {
            throw StoreError.noSuchToken(id)
        }
        return try TokenRow.token(row)
    }
}
