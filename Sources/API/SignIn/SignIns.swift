import Foundation
import HTTPServer
import Storage

/// What stands for a token when a browser cannot send it: cookies, which name the token, and tickets for one request.
struct SignIns: Sendable {
    /// The token behind a cookie or a ticket, by the digest of its secret. Whether it still holds is checked with each request,
    /// so a revoked token ends its sign-ins and tickets.
    struct Subject: Sendable, Equatable {
        /// `tok_…`, or `service` for `FETCHD_TOKEN`.
        let name: String
        let digest: TokenDigest
    }

    /// At least 32 random bytes, the same on all nodes. Only its holders can make cookies and tickets.
    private let key: [UInt8]
    private let usedTickets = UsedTickets()

    init(key: [UInt8]) { self.key = key }

    func cookie(for subject: Subject, until expiry: Date) -> SignInCookie {
        SignInCookie(subject: subject.name, expiresAt: expiry, digest: subject.digest, key: key)
    }

    func isGenuine(_ cookie: SignInCookie, digest: TokenDigest, now: Date) -> Bool {
        cookie.isGenuine(digest: digest, key: key, now: now)
    }

    /// - Parameter holder: nil for a caller that needs no token.
    func ticket(for holder: Subject?, at now: Date) -> Ticket {
        Ticket(for: holder?.digest, expiresAt: now.addingTimeInterval(Self.ticketLifetime), key: key)
    }

    /// Uses a ticket.
    ///
    /// - Returns: nil if no node has made it, or if it has expired or was used here before.
    func redeem(_ text: String, at now: Date) -> Ticket? {
        guard let ticket = Ticket(text), ticket.isGenuine(key: key) else { return nil }
        let left = ticket.expiresAt.timeIntervalSince(now)
        // More is left if the clock was set back. Such a ticket may have been used.
        guard left > 0, left <= Self.ticketLifetime + Self.tolerance else { return nil }
        return usedTickets.use(ticket, at: now) ? ticket : nil
    }

    /// Whether a redeemed ticket was made for this holder; nil: for a caller that needs no token.
    func isHeld(_ ticket: Ticket, by holder: TokenDigest?) -> Bool { ticket.isHeld(by: holder, key: key) }

    /// The query parameter `ticket`.
    static func ticket(in head: RequestHead) -> String? {
        let pairs = (head.query ?? "").split(separator: "&")
        return pairs.first { $0.hasPrefix("ticket=") }.map { String($0.dropFirst("ticket=".utf8.count)) }
    }

    /// Seconds.
    static let ticketLifetime: TimeInterval = 30
    /// Seconds by which the clocks of two nodes may differ.
    private static let tolerance: TimeInterval = 30
}
