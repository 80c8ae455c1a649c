import Downloads
import Foundation

/// Reads a token from a row.
enum TokenRow {
    static func token(_ row: SQLRow) throws -> StoredToken {
        let id = TokenID(row["id"])
        guard let grant = Grant(try row.named("scope", as: Scope.self), in: try sessions(row)) else {
            throw StoreError.failed(why: "token \(id) is an administrator of some sessions only")
        }
        let token = Token(
            id: id, name: (row["name"] as String?).map { Name(trusted: $0) }, grant: grant,
            quotas: try row.decoded("quotas", default: .none), createdAt: row.time("created_at"),
            expiresAt: row.optionalTime("expires_at"),
            lastUsedAt: row.optionalTime("last_used_at"), formerSecretUntil: row.optionalTime("former_until"))
        return StoredToken(
            token: token, digest: TokenDigest(Array(row["digest"] as Data)),
            formerDigest: (row["former_digest"] as Data?).map { TokenDigest(Array($0)) })
    }

    private static func sessions(_ row: SQLRow) throws -> VisibleSessions {
        guard (row["sessions"] as String?) != nil else { return .all }
        let texts = try row.decoded("sessions", as: [String].self)
        return .matching(texts.map { SessionPattern(trusted: $0) })
    }
}

extension VisibleSessions {
    /// The column `sessions`.
    func storedText() throws -> String? {
        switch self {
        case .all: nil
        case .matching(let patterns): try Stored.text(patterns.map(\.text))
        }
    }
}
