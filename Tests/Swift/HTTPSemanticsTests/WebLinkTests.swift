import HTTPSemantics
import Testing

/// `Link` fields (RFC 8288).
@Suite struct WebLinkTests {
    private func links(_ lines: String...) -> [WebLink] { WebLink.links(lines.map { ("link", $0) }) }

    @Test(arguments: [
        ("<http://h/a>; rel=duplicate", ["rel": "duplicate"]),
        ("<http://h/a>;rel=\"duplicate\";pri=1", ["rel": "duplicate", "pri": "1"]),
        (" ,, <http://h/a> ; REL = \"x DUPLICATE\" ; geo = de", ["rel": "x DUPLICATE", "geo": "de"]),
        ("<http://h/a>; title=\"a;, b \\\" <c>\"; rel=duplicate", ["title": "a;, b \" <c>", "rel": "duplicate"]),
        ("<http://h/a>; rel=duplicate; rel=other", ["rel": "duplicate"]), ("<http://h/a>", [:]),
        ("< http://h/a >;;;", [:]),
        ("<http://h/a>; depth; rel=duplicate", ["depth": "", "rel": "duplicate"]),
        ("<http://h/a>; rel=\"duplicate", ["rel": "duplicate"]),
    ])
    func readsParameters(_ line: String, _ parameters: [String: String]) {
        #expect(links(line) == [WebLink(target: "http://h/a", parameters: parameters)])
    }

    @Test func readsSeveralLinksAndLines() {
        let found = links("<a>; rel=duplicate, <b>; rel=\"describedby\", <c>", "<d>; rel=DUPLICATE")
        #expect(found.map(\.target) == ["a", "b", "c", "d"])
        #expect(found.map(\.relations) == [["duplicate"], ["describedby"], [], ["duplicate"]])
    }

    @Test(arguments: [
        "", "x", "http://h/a; rel=duplicate", "<http://h/a", "<http://h/a>; rel=duplicate; anchor=\"#x\"",
    ])
    func ignoresWhatIsNoLink(_ line: String) { #expect(links(line).isEmpty) }

    @Test func ignoresMoreThanTheLongestField() {
        let line = "<" + String(repeating: "x", count: 40_000) + ">"
        #expect(links(line, line).count == 1)
    }

    @Test(arguments: [
        ("http://m/x", "http://m/x"), ("//m/x", "https://m/x"), ("/x", "https://h/x"), ("../x", "https://h/x"),
        ("y?z", "https://h/a/y?z"), ("ftp://m/x", nil), ("rehearse:x", nil), ("file:///etc/passwd", nil),
        ("http://", nil),
        ("http://m/a b", "http://m/a%20b"),
    ])
    func resolvesReferences(_ reference: String, _ url: String?) {
        #expect(URLRule.resolved(reference, against: "https://h/a/b") == url)
    }
}
