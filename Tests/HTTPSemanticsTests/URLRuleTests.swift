import Foundation
import Testing

@testable import HTTPSemantics

@Suite struct URLRuleTests {
    @Test(arguments: [
        "", "ftp://host/f", "file:///etc/passwd", "//host/f", "host/f", "http://", "http:///f", "https://ho st/",
        "http://host/\u{1}", "http://host:0/", "http://host:99999/", "http://[:::]/", "http://[e4da6]/",
        "http://\(String(repeating: "a", count: 254))/",
    ])
    func refusesURLThatCannotBeFetched(_ url: String) {
        #expect(URLRule.fault(in: url) != nil)
    }

    @Test(arguments: [
        "http://host", "https://user@host:8443/a?b=c#d", "HTTP://[::1]:80/x", "http://192.0.2.1/%20",
        "http://[fe80::1%25eth0]/", "http://\(String(repeating: "a", count: 253))/",
    ])
    func acceptsURLThatCanBeFetched(_ url: String) {
        #expect(URLRule.fault(in: url) == nil)
    }

    @Test func redactsQueryAndCredentials() {
        #expect(URLRule.redacted("https://user:secret@host/p?sig=1#f") == "https://host/p?...")
        #expect(URLRule.redacted("https://host/p") == "https://host/p")
        #expect(URLRule.redacted("https://host?x=a@b") == "https://host?...")
        #expect(URLRule.withoutCredentials("https://user:p@ss@host/p?a=b@c") == "https://host/p?a=b@c")
        #expect(URLRule.withoutCredentials("https://host/p@q?a=b") == "https://host/p@q?a=b")
    }

    @Test func readsHostAndPort() {
        #expect(URLRule.hostAndPort(of: "https://Host/a") == "host:443")
        #expect(URLRule.hostAndPort(of: "http://host:8080/") == "host:8080")
        #expect(URLRule.host(of: "http://[::1]:80/") == "::1")
        for text in ["", "host/a", "://", "http://"] { #expect(URLRule.host(of: text).isEmpty, "\(text)") }
    }

    @Test func usesSchemeAsHostWithoutAuthority() {
        for text in ["rehearse:film.mkv?size=1", "Rehearse:a", "rehearse:/a", "rehearse:%zz"] {
            #expect(URLRule.host(of: text) == "rehearse", "\(text)")
            #expect(URLRule.hostAndPort(of: text) == "rehearse", "\(text)")
        }
        #expect(URLRule.origin(of: "rehearse:a") == "rehearse://rehearse")
    }

    /// The common form is not read by Foundation.
    @Test func readsCommonURLsAsFoundationReadsThem() {
        let pieces = [
            "h", "a.b", "Host-1", "xn--a", "192.0.2.1", "[::1]", "u@", ":", ":80", ":0443", ":99999", ":123456", "/",
            "//", "?", "#", "%20", "%2", "%zz", "a=b&c", "~_!$'()*+,;", "|", "\\", "\"", "<", "^", "`", "{", "ü", " ",
        ]
        var common = 0
        for _ in 0..<20_000 {
            let scheme = ["http://", "https://", "http://h", "https://h", "HTTP://", "ftp:"].randomElement() ?? ""
            let text = scheme + (0..<Int.random(in: 0...5)).compactMap { _ in pieces.randomElement() }.joined()
            guard let url = CommonURL(text) else { continue }
            common += 1
            let parts = URLComponents(string: text)
            #expect(parts?.host == url.host && parts?.port == url.port, "\(text)")
            #expect(parts?.scheme == (url.isSecure ? "https" : "http"), "\(text)")
        }
        #expect(common > 500)
        for text in ["http://host", "https://host-1.example.org:8443/a/b%20c.bin?d=e&f=/?@:!$'()*+,;"] {
            #expect(CommonURL(text) != nil, "\(text)")
        }
    }
}
