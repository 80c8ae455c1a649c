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

    /// The quotas of tokens that can delay the start of jobs. The tokens that requests are authenticated with can lack what
    /// another node has changed.
    func transferQuotas() throws -> [TokenID: TokenQuotas] {
        if let known = working.transferQuotas[.all] { return known }
        var transferQuotas: [TokenID: TokenQuotas] = [:]
        for row in try rows("SELECT id, quotas FROM tokens WHERE quotas IS NOT NULL") {
            let quotas = try row.decoded("quotas", as: TokenQuotas.self)
            if quotas.limitsTransfers { transferQuotas[TokenID(row["id"])] = quotas }
        }
        working.transferQuotas.note(transferQuotas, for: .all)
        return transferQuotas
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
    func countBytes(_ before: Job?, _ after: Job?) throws {
        guard let before, let after, let token = after.token, before.state.name == .running else { return }
        let bytes = after.bytesDurable - before.bytesDurable
        guard bytes > 0, try transferQuotas()[token]?.bytesPerDay != nil else { return }
        counts.addBytes(bytes, of: token, on: QuotaDay(of: now))
    }

    /// Removes the counts of earlier days.
    func pruneTokenBytes() throws {
        try run("DELETE FROM token_bytes WHERE day < ?", [QuotaDay(of: now).number])
    }
}
