import Downloads
import Foundation
import Storage

/// Reads a token from the request of a client.
extension NewToken {
    /// - Parameter now: a token must expire after it.
    init(reading reader: inout FieldReader, at now: Date) throws(Problem) {
        let name = try reader.tokenName("name")
        let scope = try reader.choice("scope", of: Scope.self)
        let sessions = try reader.visibleSessions("sessions")
        let quotas = try reader.object("quotas", TokenQuotas.init(reading:)) ?? .none
        let expiresAt = try reader.time("expires_at")
        if let expiresAt, expiresAt <= now { throw reader.invalid("expires_at", "must be in the future") }
        guard let scope else { throw reader.missing("scope", "what the token allows: read, jobs, sessions or admin") }
        guard let grant = Grant(scope, in: sessions) else {
            throw reader.invalid("sessions", "cannot be given for the scope admin, which is for the whole service")
        }
        self.init(name: name, grant: grant, quotas: quotas, expiresAt: expiresAt)
    }
}

extension TokenQuotas {
    fileprivate init(reading reader: inout FieldReader) throws(Problem) {
        self.init(
            outstandingJobs: try reader.integer("outstanding_jobs", in: 0...1_000_000_000).map(Int.init),
            bytesPerDay: try reader.integer("bytes_per_day", in: 0...(1 << 60)),
            concurrentTransfers: try reader.integer("concurrent_transfers", in: 0...10_000).map(Int.init),
            requestsPerSecond: try reader.integer("requests_per_second", in: 1...1_000_000).map(Int.init))
    }
}

extension FieldReader {
    fileprivate mutating func tokenName(_ name: String) throws(Problem) -> Name? {
        guard let text = try string(name) else { return nil }
        guard let label = Name(text) else { throw invalid(name, "must be 1 to 128 of A-Z a-z 0-9 . _ -") }
        return label
    }

    fileprivate mutating func visibleSessions(_ name: String) throws(Problem) -> VisibleSessions {
        guard let texts = try strings(name) else { return .all }
        guard (1...Self.mostPatterns).contains(texts.count), Set(texts).count == texts.count else {
            throw invalid(
                name, "must contain 1 to \(Self.mostPatterns) names or patterns, each once; omit it for all sessions")
        }
        var patterns: [SessionPattern] = []
        for text in texts {
            guard let pattern = SessionPattern(text) else {
                throw invalid(
                    name,
                    "contains '\(text)'; it takes names of sessions, and names with a star at the end, such as films*; omit it for all sessions"
                )
            }
            patterns.append(pattern)
        }
        return .matching(patterns)
    }

    private static let mostPatterns = 32
}
