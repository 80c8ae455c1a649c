import Downloads
import Formats

/// Tokens in the form of the API contract.
extension Token {
    /// - Parameter secret: only in the response that creates or replaces it.
    func document(secret: TokenSecret? = nil) -> JSON {
        var document: JSONObject = [
            "id": .string(id.text), "name": .optional(name?.text), "scope": .string(grant.scope.rawValue),
            "sessions": grant.sessions.document, "quotas": quotas.document, "created_at": .time(createdAt),
            "expires_at": .optional(expiresAt),
            "last_used_at": .optional(lastUsedAt), "former_token_until": .optional(formerSecretUntil),
        ]
        if let secret { document["token"] = .string(secret.text) }
        return .object(document)
    }
}

extension TokenQuotas {
    fileprivate var document: JSON {
        [
            "outstanding_jobs": .optional(outstandingJobs), "bytes_per_day": .optional(bytesPerDay),
            "concurrent_transfers": .optional(concurrentTransfers),
            "requests_per_second": .optional(requestsPerSecond),
        ]
    }
}

extension VisibleSessions {
    /// The patterns; null for all sessions.
    var document: JSON {
        switch self {
        case .all: .null
        case .matching(let patterns): .strings(patterns.map(\.text))
        }
    }
}
