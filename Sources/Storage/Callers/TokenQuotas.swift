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
        let transferQuotas = try db.transferQuotas()
        working.transferQuotas.note(transferQuotas, for: .all)
        return transferQuotas
    }

    static let outstandingOfToken =
        "SELECT count(*) FROM jobs WHERE token = ? AND state IN ('queued', 'running', 'waiting', 'paused')"

    static let runningOfToken = "SELECT count(*) FROM jobs WHERE token = ? AND state = 'running'"

    private func bytesToday(of token: TokenID) throws -> Int64 { try db.bytes(of: token, on: QuotaDay(of: now)) }

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

extension SQLConnection {
    fileprivate func transferQuotas() throws -> [TokenID: TokenQuotas] {
        try rows("SELECT id, quotas FROM tokens WHERE quotas IS NOT NULL").reduce(into: [:]) { all, row in
            let quotas = try row.decoded("quotas", as: TokenQuotas.self)
            if quotas.limitsTransfers { try all[TokenID(row["id"])] = quotas }
        }
    }

    fileprivate func runningJobs(of token: TokenID) throws -> Int {
        try value(Transaction.runningOfToken, [token.text]) ?? 0
    }

    fileprivate func bytes(of token: TokenID, on day: QuotaDay) throws -> Int64 {
        try value("SELECT bytes FROM token_bytes WHERE token = ? AND day = ?", [token.text, day.number]) ?? 0
    }
}

/// The tokens whose jobs may not all run. Empty unless a token has a quota of transfers or bytes.
struct AdmissionQuotas {
    /// The number of jobs of a token that may still begin.
    private var left: [TokenID: Int] = [:]
    /// Tokens that have received the bytes of their day.
    private(set) var outOfBytes: Set<TokenID> = []
    private let dayEnds: Date

    init(_ transaction: Transaction) throws {
        try self.init(transaction.db, try transaction.transferQuotas(), at: transaction.now)
    }

    init(_ db: SQLConnection, at now: Date) throws { try self.init(db, try db.transferQuotas(), at: now) }

    private init(_ db: SQLConnection, _ quotas: [TokenID: TokenQuotas], at now: Date) throws {
        let day = QuotaDay(of: now)
        dayEnds = day.end
        for (token, quotas) in quotas {
            if let limit = quotas.concurrentTransfers { left[token] = max(0, limit - (try db.runningJobs(of: token))) }
            if let limit = quotas.bytesPerDay, try db.bytes(of: token, on: day) >= limit {
                left[token] = 0
                outOfBytes.insert(token)
            }
        }
    }

    /// When tokens that have received the bytes of their day may continue; nil if there is none.
    var continuesAt: Date? { outOfBytes.isEmpty ? nil : dayEnds }

    /// Tokens whose jobs may not begin now.
    var exhausted: Set<TokenID> { Set(left.filter { $0.value == 0 }.keys) }

    /// - Returns: whether no other job of the same token may begin.
    mutating func begin(_ job: Job) -> Bool {
        guard let token = job.token, let before = left[token] else { return false }
        left[token] = before - 1
        return before == 1
    }
}
