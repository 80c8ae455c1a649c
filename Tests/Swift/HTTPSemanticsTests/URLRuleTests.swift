import Foundation
import Testing

@testable import HTTPSemantics

@Suite struct URLRuleTests {
    @Test(arguments: [
        "", "ftp://host/f", "file:///etc/passwd", "//host/f", "host/f", "http://", "http:///f", "https://ho st/",
        "http://host/\u{1}", "http://host:0/", "http://host:99999/", "http://[:::]/", "http://[e4da6]/",
        "http://\(String(repeating: "a", count: 64))/", "http://\(String(repeating: "abc.", count: 64))/",
        "http://a..b/", "http://.a/", "http://./", "http://*/", "http://a*b/", "http://a,b/", "http://a%2Fb/",
        "http://a%00b/", "http://%zz/", "http://\u{301}a.example/", "http://-\u{FC}-.example/",
        "http://\u{2100}.example/", "http://\u{FC}..example/", "http://\u{FC}%2Fx/", "http://\u{5D0}a.example/",
        "http://\(String(repeating: "\u{F6}\u{FC}", count: 40)).example/",
    ])
    func refusesURLThatCannotBeFetched(_ url: String) {
        #expect(URLRule.fault(in: url) != nil)
    }

    @Test(arguments: [
        "http://host", "https://user@host:8443/a?b=c#d", "HTTP://[::1]:80/x", "http://192.0.2.1/%20",
        "http://[fe80::1%25eth0]/", "http://\(String(repeating: "abc.", count: 63))a./",
        "http://under_score.host/", "http://b\u{FC}cher.example/", "http://b%C3%BCcher.example/",
        "http://xn--zzzzzzzz99999.example/", "http://\u{4F8B}\u{3048}\u{3002}\u{30C6}\u{30B9}\u{30C8}:81/\u{FC}",
    ])
    func acceptsURLThatCanBeFetched(_ url: String) {
        #expect(URLRule.fault(in: url) == nil)
    }

    /// Only the host changes. `faß` stays another name than `fass` (UTS 46, nontransitional), as in browsers.
    @Test(arguments: [
        ("http://b\u{FC}cher.example/\u{FC}?q=\u{FC}", "http://xn--bcher-kva.example/\u{FC}?q=\u{FC}"),
        ("https://u:p\u{FC}@B\u{DC}CHER.Example:81", "https://u:p\u{FC}@xn--bcher-kva.example:81"),
        ("http://b%C3%BCcher.example/%C3%BC", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://f%69les.example/", "http://files.example/"),
        ("http://fa\u{DF}.example/", "http://xn--fa-hia.example/"),
        ("http://\u{4F8B}\u{3048}\u{3002}\u{30C6}\u{30B9}\u{30C8}/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://\u{FF11}27.0.0.1/", "http://127.0.0.1/"), ("http://ex\u{AD}ample.test/", "http://example.test/"),
        ("HTTP://Host:80/%7E", "HTTP://Host:80/%7E"), ("http://[fe80::1%25eth0]/", "http://[fe80::1%25eth0]/"),
        ("http://XN--bcher-kva.example/", "http://XN--bcher-kva.example/"), ("mailto:\u{FC}", "mailto:\u{FC}"),
    ])
    func normalizesHost(_ url: String, _ normalized: String) {
        #expect(URLRule.normalized(url) == normalized)
        #expect(URLRule.normalized(normalized) == normalized)
    }

    @Test func comparesInternationalHostsInOneForm() {
        for url in ["http://b\u{FC}cher.example/", "http://B\u{DC}CHER.example:80/a", "http://XN--bcher-kva.example/b"]
        {
            #expect(URLRule.host(of: url) == "xn--bcher-kva.example")
            #expect(URLRule.hostAndPort(of: url) == "xn--bcher-kva.example:80")
            #expect(URLRule.origin(of: url) == "http://xn--bcher-kva.example:80")
        }
    }

    /// A combining mark after a delimiter makes another character of it.
    @Test func redactsAfterDelimitersWithCombiningMarks() {
        #expect(URLRule.redacted("https://host/p?\u{301}sig=1") == "https://host/p?...")
        #expect(URLRule.withoutCredentials("https://user:secret@\u{301}host/") == "https://\u{301}host/")
    }

    @Test func redactsQueryAndCredentials() {
        #expect(URLRule.redacted("https://user:secret@host/p?sig=1#f") == "https://host/p?...")
        #expect(URLRule.redacted("https://host/p") == "https://host/p")
        #expect(URLRule.redacted("https://host?x=a@b") == "https://host?...")
        #expect(URLRule.withoutCredentials("https://user:p@ss@host/p?a=b@c") == "https://host/p?a=b@c")
        #expect(URLRule.withoutCredentials("https://host/p@q?a=b") == "https://host/p@q?a=b")
    }

    /// For Swift, a mark that follows a separator and the separator are one character.
    @Test func combiningMarksHideNoSeparator() {
        let url = "http://user:pass@\u{345}a8/film?\u{301}token=0123456789#\u{301}end"
        #expect(URLRule.normalized(url).hasPrefix("http://user:pass@xn--"))
        #expect(URLRule.host(of: url).hasPrefix("xn--"))
        #expect(URLRule.secrets(of: url).contains("user:pass"))
        #expect(URLRule.secrets(of: url).contains("0123456789"))
        #expect(URLRule.isRedacted(URLRule.redacted("http://host/\u{6DD}?token=1")))
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
