import Foundation
import Locks

/// The tickets that this service has admitted and that have not expired yet: each admits one request.
///
/// They are only in memory. So another node of the same database admits such a ticket once more, and so does this service
/// after a restart.
final class UsedTickets: Sendable {
    fileprivate struct State {
        var expiries: [[UInt8]: Date] = [:]
        /// The number of tickets at which those that have expired are removed.
        var limit = 1024
    }

    private let state = Locked(State())

    /// - Returns: false if the ticket was used before.
    func use(_ ticket: Ticket, at now: Date) -> Bool {
        state.withLock { state in
            if state.expiries.count >= state.limit { state.removeExpired(at: now) }
            return state.expiries.updateValue(ticket.expiresAt, forKey: ticket.bytes) == nil
        }
    }

    /// The number of tickets in memory.
    var count: Int { state.withLock { $0.expiries.count } }
}

extension UsedTickets.State {
    fileprivate mutating func removeExpired(at now: Date) {
        expiries = expiries.filter { $0.value > now }
        limit = max(1024, 2 * expiries.count)
    }
}
