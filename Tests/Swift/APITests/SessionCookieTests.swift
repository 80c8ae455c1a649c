import Base
import Foundation
import HTTPTypes
import Storage
import Testing

@testable import API
@testable import HTTPServer

/// The cookie of a browser that has signed in.
struct SessionCookieTests {
    private let key = [UInt8](repeating: 7, count: 32)
    private let digest = TokenDigest(HashFunction.sha256.hash(Array("secret".utf8)))
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private var cookie: SessionCookie {
        SessionCookie(subject: "tok_1", expiresAt: now.addingTimeInterval(60), digest: digest, key: key)
    }

    @Test func isReadAsItWasWritten() throws {
        let read = try #require(SessionCookie(cookie.value))
        #expect(read == cookie)
        #expect(read.isGenuine(digest: digest, key: key, now: now))
    }

    @Test func expires() {
        #expect(cookie.isGenuine(digest: digest, key: key, now: now.addingTimeInterval(59)))
        #expect(!cookie.isGenuine(digest: digest, key: key, now: now.addingTimeInterval(60)))
    }

    @Test func anotherSecretOrAnotherKeyEndsIt() {
        let other = TokenDigest(HashFunction.sha256.hash(Array("other".utf8)))
        #expect(!cookie.isGenuine(digest: other, key: key, now: now))
        #expect(!cookie.isGenuine(digest: digest, key: [UInt8](repeating: 8, count: 32), now: now))
    }

    @Test(arguments: ["tok_2.1700000060.CODE", "tok_1.1700009999.CODE", "tok_1.1700000060.00", "tok_1.1700000060."])
    func aChangedValueIsNotGenuine(_ template: String) throws {
        let code = try #require(cookie.value.split(separator: ".").last)
        let changed = try #require(SessionCookie(template.replacing("CODE", with: code)))
        #expect(!changed.isGenuine(digest: digest, key: key, now: now))
    }

    @Test(arguments: ["", "tok_1", "tok_1.5", "tok_1.x.00", "a.1.b.c"])
    func anotherTextIsNoCookie(_ text: String) {
        #expect(SessionCookie(text) == nil)
    }

    @Test func isFoundAmongOthers() {
        var head = RequestHead(method: .get, target: "/")
        head.headers[.cookie] = "a=b; fetchd_sign_in=\(cookie.value); fetchd_sign_in2=x"
        #expect(SessionCookie.of(head) == cookie)
        head.headers[.cookie] = "a=b"
        #expect(SessionCookie.of(head) == nil)
    }

    @Test func isNotForScriptsOrOtherSites() {
        #expect(
            SessionCookie.field("v", maxAge: 60, isSecure: false)
                == "fetchd_sign_in=v; Path=/; Max-Age=60; HttpOnly; SameSite=Strict")
        #expect(SessionCookie.field("v", maxAge: 60, isSecure: true).hasSuffix("; Secure"))
    }
}
