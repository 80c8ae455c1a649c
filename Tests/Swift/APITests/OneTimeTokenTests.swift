import Base
import Formats
import Foundation
import TestKit
import Testing

@testable import API
@testable import HTTPServer
@testable import Storage

/// A ticket admits one request.
struct OneTimeTokenTests {
    private static let key = [UInt8](repeating: 7, count: 32)
    private let now = Date(milliseconds: 1_566_228_194_000)
    private let holder = TokenDigest(of: "secret")
    private let cookies = SessionCookies(key: Self.key)

    private func ticket() -> OneTimeToken {
        cookies.ticket(for: SessionCookies.Subject(name: "tok_1", digest: holder), at: now)
    }

    @Test func isGoodForOneRequest() throws {
        let ticket = ticket()
        #expect(cookies.redeem(ticket.text, at: now) == ticket)
        #expect(cookies.redeem(ticket.text, at: now) == nil)
    }

    @Test(arguments: [(0.0, true), (29.999, true), (30, false), (-30, true), (-31, false)])
    func expiresAfterHalfAMinute(_ seconds: Double, _ isValid: Bool) {
        #expect((cookies.redeem(ticket().text, at: now.addingTimeInterval(seconds)) != nil) == isValid)
    }

    @Test func standsForItsHolderOnly() {
        let (held, open) = (ticket(), cookies.ticket(for: nil, at: now))
        #expect(cookies.isHeld(held, by: holder) && !cookies.isHeld(held, by: nil))
        #expect(!cookies.isHeld(held, by: TokenDigest(of: "other")))
        #expect(cookies.isHeld(open, by: nil) && !cookies.isHeld(open, by: holder))
    }

    @Test func anotherKeyOrAChangedByteMakesItWorthless() throws {
        let ticket = ticket()
        #expect(SessionCookies(key: [UInt8](repeating: 8, count: 32)).redeem(ticket.text, at: now) == nil)
        for index in ticket.bytes.indices {
            var bytes = ticket.bytes
            bytes[index] ^= 1
            #expect(cookies.redeem(bytes.hexadecimal, at: now) == nil, "\(index)")
        }
        #expect(cookies.redeem(ticket.text, at: now) != nil)
    }

    @Test(arguments: ["", "0123", String(repeating: "g", count: 64), String(repeating: "0", count: 64), "é"])
    func anInventedTicketIsWorthNothing(_ text: String) {
        #expect(cookies.redeem(text, at: now) == nil)
    }

    @Test func hasTheFormOfTheDescription() {
        #expect(ticket().text.wholeMatch(of: /[0-9a-f]{64}/) != nil)
        #expect(ticket().expiresAt == now.addingTimeInterval(30))
    }

    @Test func usedTicketsAreForgottenWhenTheyHaveExpired() {
        let used = UsedOneTimeTokens()
        for second in 0..<10 {
            let time = now.addingTimeInterval(Double(31 * second))
            for _ in 0..<500 {
                _ = used.use(OneTimeToken(for: holder, expiresAt: time.addingTimeInterval(30), key: Self.key), at: time)
            }
        }
        #expect(used.count <= 1024)
    }

    /// The nodes of a database have one key and the same tokens.
    @Test func everyNodeAdmitsIt() throws {
        func node() -> Authentication {
            Authentication(
                token: "secret", tokens: TokenTable([]), cookies: SessionCookies(key: Self.key), time: ManualTime(now))
        }
        let (one, other, text) = (node(), node(), ticket().text)
        let head = RequestHead(method: .get, target: "/v1/events?ticket=\(text)", remoteAddress: "192.0.2.1")
        #expect(try one.caller(of: head, takesOneTimeToken: true).authMethod == .ticket)
        #expect(throws: Problem.self) { try one.caller(of: head, takesOneTimeToken: true) }
        #expect(try other.caller(of: head, takesOneTimeToken: true).isAdministrator)
    }
}
