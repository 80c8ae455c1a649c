import Downloads
import Foundation

extension Transaction {
    /// Costs nothing for creators without quotas.
    ///
    /// - Throws: `quotaExceeded`.
    func requireQuota(of creator: JobCreator, for count: Int) throws {
        guard let token = creator.token else { return }
        if let limit = creator.quotas.outstandingJobs {
            let left = max(0, limit - (try db.value(Self.outstandingOfToken, [token.text]) ?? 0))
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
    /// another service has changed.
    func transferQuotas() throws -> [TokenID: TokenQuotas] {
        if let known = working.transferQuotas[.all] { return known }
        var transferQuotas: [TokenID: TokenQuotas] = [:]
        for row in try rows("SELECT id, quotas FROM tokens WHERE quotas IS NOT NULL") {
            let quotas = try row.decoded("quotas", as: TokenQuotas.self)
            if quotas.limitsTransfers { try transferQuotas[TokenID(row["id"])] = quotas }
        }
        working.transferQuotas.note(transferQuotas, for: .all)
        return transferQuotas
    }

    static let outstandingOfToken =
        "SELECT count(*) FROM jobs WHERE token = ? AND state IN ('queued', 'running', 'waiting', 'paused')"

    func runningJobs(of token: TokenID) throws -> Int { try db.value(Self.runningOfToken, [token.text]) ?? 0 }

    static let runningOfToken = "SELECT count(*) FROM jobs WHERE token = ? AND state = 'running'"

    func bytesToday(of token: TokenID) throws -> Int64 {
        let day = QuotaDay(of: now).number
        return try db.value("SELECT bytes FROM token_bytes WHERE token = ? AND day = ?", [token.text, day]) ?? 0
    }

    /// Counts what an attempt has received since its last report, if its token has a quota of bytes. Each report has all bytes
    /// of the attempt, also those that are in no part. So a report that is repeated counts once.
    ///
    /// - Parameter bytes: of all connections of the attempt.
    func countReceived(_ bytes: Int64, of job: Job) throws {
        guard let token = job.token, try transferQuotas()[token]?.bytesPerDay != nil else { return }
        let former = working.received[job.id]
        let counted = former?.admission == job.admissions ? former?.bytes ?? 0 : 0
        guard bytes > counted else { return }
        counts.addBytes(bytes - counted, of: token, on: QuotaDay(of: now))
        working.received.note(ReceivedByAttempt(admission: job.admissions, bytes: bytes), for: job.id)
    }
}
