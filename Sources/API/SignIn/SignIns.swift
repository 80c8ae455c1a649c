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

    /// Callers that need no token get tickets, too; these have no subject.
    let tickets: Tickets<Subject?>
    /// At least 32 random bytes. Only its holder can make cookies.
    private let key: [UInt8]

    init(key: [UInt8], time: any TimeSource) {
        self.key = key
        tickets = Tickets(uptime: { time.uptime })
    }

    func cookie(for subject: Subject, until expiry: Date) -> SignInCookie {
        SignInCookie(subject: subject.name, expiresAt: expiry, digest: subject.digest, key: key)
    }

    func isGenuine(_ cookie: SignInCookie, digest: TokenDigest, now: Date) -> Bool {
        cookie.isGenuine(digest: digest, key: key, now: now)
    }

    /// The query parameter `ticket`.
    static func ticket(in head: RequestHead) -> String? {
        let pairs = (head.query ?? "").split(separator: "&")
        return pairs.first { $0.hasPrefix("ticket=") }.map { String($0.dropFirst("ticket=".utf8.count)) }
    }

    static var ticketLifetime: Duration { Tickets<Subject?>.lifetime }
}
