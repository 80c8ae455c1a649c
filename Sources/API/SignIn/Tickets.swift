import Formats
import Hashing
import Locks

/// The tickets that are not used yet. A ticket admits one request, for clients that cannot send `Authorization`: an
/// `EventSource`, or a link to a file. A ticket may end up in a log with its URL, so it is worth nothing afterwards.
///
/// Tickets are only in memory: none survives a restart.
final class Tickets<Holder: Sendable>: Sendable {
    private struct Ticket {
        let holder: Holder
        let expiresAt: Duration
    }

    private let tickets = Locked<[[UInt8]: Ticket]>([:])
    /// The time since the start of the machine.
    private let uptime: @Sendable () -> Duration

    init(uptime: @escaping @Sendable () -> Duration) {
        self.uptime = uptime
    }

    /// Makes a ticket. nil if there are too many that are not used.
    func issue(to holder: Holder) -> String? {
        let text = [UInt8].random(count: 32).hexadecimal
        let now = uptime()
        return tickets.withLock { tickets in
            if tickets.count >= Self.most { tickets = tickets.filter { $0.value.expiresAt > now } }
            guard tickets.count < Self.most else { return nil }
            tickets[Self.key(text)] = Ticket(holder: holder, expiresAt: now + Self.lifetime)
            return text
        }
    }

    /// The holder of the ticket. nil if it does not exist, was used before, or has expired.
    func redeem(_ text: String) -> Holder? {
        let now = uptime()
        guard let ticket = tickets.withLock({ $0.removeValue(forKey: Self.key(text)) }) else { return nil }
        return ticket.expiresAt > now ? ticket.holder : nil
    }

    /// The hash, so that the time of a look-up says nothing about the tickets.
    private static func key(_ text: String) -> [UInt8] { HashFunction.sha256.hash(Array(text.utf8)) }

    static var lifetime: Duration { .seconds(30) }
    private static var most: Int { 10_000 }
}
