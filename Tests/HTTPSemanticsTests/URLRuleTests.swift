import HTTPSemantics
import Testing

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
}
