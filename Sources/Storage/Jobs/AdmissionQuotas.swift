import Downloads
import Foundation

/// The tokens whose jobs may not all run. Empty unless a token has a quota of transfers or bytes.
struct AdmissionQuotas {
    /// The number of jobs of a token that may still begin.
    private var left: [TokenID: Int] = [:]
    /// When tokens that have received the bytes of their day may continue; nil if there is none.
    private(set) var continuesAt: Date?

    init(_ transaction: Transaction) throws {
        for (token, quotas) in try transaction.transferQuotas() {
            if let limit = quotas.concurrentTransfers {
                left[token] = max(0, limit - (try transaction.runningJobs(of: token)))
            }
            if let limit = quotas.bytesPerDay, try transaction.bytesToday(of: token) >= limit {
                left[token] = 0
                continuesAt = QuotaDay(of: transaction.now).end
            }
        }
    }

    /// Tokens whose jobs may not begin now.
    var exhausted: Set<TokenID> { Set(left.filter { $0.value == 0 }.keys) }

    /// - Returns: whether no other job of the same token may begin.
    mutating func begin(_ job: Job) -> Bool {
        guard let token = job.token, let before = left[token] else { return false }
        left[token] = before - 1
        return before == 1
    }
}
