import Downloads
import Foundation

/// Judges and counts what the holders of tokens use.
extension Transaction {
    /// Costs nothing for creators without quotas.
    ///
    /// - Throws: `quotaExceeded`.
    func requireQuota(of creator: JobCreator, for count: Int) throws {
        guard let token = creator.token else { return }
        if let limit = creator.quotas.outstandingJobs {
            let left = max(0, limit - (try outstandingJobs(of: token)))
            guard count <= left else {
                throw StoreError.quotaExceeded(.outstandingJobs(limit: limit, left: left, requested: count))
            }
        }
        if let limit = creator.quotas.bytesPerDay, try bytesToday(of: token) >= limit {
            let seconds = QuotaDay(of: now).end.timeIntervalSince(now).rounded(.up)
            throw StoreError.quotaExceeded(.bytesPerDay(limit: limit, seconds: Int(seconds)))
        }
    }

    /// The quotas of tokens that can delay the start of jobs. Another node may have changed them since the last look.
    func transferQuotas() throws -> [TokenID: TokenQuotas] {
        guard db.followsOthers else { return working.tokens.transferQuotas }
        let tokens = try rows("SELECT * FROM tokens").map(TokenRow.token).map(\.token)
        return Dictionary(
            tokens.filter { $0.quotas.limitsTransfers }.map { ($0.id, $0.quotas) }, uniquingKeysWith: { $1 })
    }

    private func outstandingJobs(of token: TokenID) throws -> Int {
        try row(Self.outstandingOfToken, [token.text])?["n"] ?? 0
    }

    static let outstandingOfToken = """
        SELECT count(*) AS n FROM jobs
        WHERE token = ? AND state IN ('queued', 'running', 'waiting', 'paused')
        """

    func runningJobs(of token: TokenID) throws -> Int {
        try row(Self.runningOfToken, [token.text])?["n"] ?? 0
    }

    static let runningOfToken = "SELECT count(*) AS n FROM jobs WHERE token = ? AND state = 'running'"

    func bytesToday(of token: TokenID) throws -> Int64 {
        let day = QuotaDay(of: now).number
        return try row("SELECT bytes FROM token_bytes WHERE token = ? AND day = ?", [token.text, day])?["bytes"] ?? 0
    }

    /// Notes the bytes that a job has received between two versions of it, if its token has a quota of bytes. A part
    /// that a job takes over from another was not received, so only running jobs count.
    func countBytes(_ before: Job?, _ after: Job?) {
        guard let before, let after, let token = after.token, before.state.name == .running else { return }
        let bytes = after.bytesDurable - before.bytesDurable
        guard bytes > 0, working.tokens.transferQuotas[token]?.bytesPerDay != nil else { return }
        counts.addBytes(bytes, of: token, on: QuotaDay(of: now))
    }

    /// Removes the counts of earlier days.
    func pruneTokenBytes() throws {
        try run("DELETE FROM token_bytes WHERE day < ?", [QuotaDay(of: now).number])
    }
}
