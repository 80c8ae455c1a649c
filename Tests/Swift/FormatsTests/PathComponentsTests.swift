import Formats
import Testing

@Suite struct PathComponentsTests {
    @Test func splitsPathsAtBytes() {
        #expect(PathComponents.split("a/\u{301}b/c") == ["a", "\u{301}b", "c"])
        #expect(PathComponents.last(of: "a/b/\u{301}c") == ("a/b", "\u{301}c"))
        #expect(PathComponents.last(of: "c") == ("", "c"))
        for name in ["", ".", "..", "a/b", "a/\u{301}b", "a\0"] { #expect(!PathComponents.isOne(name), "\(name)") }
        for name in ["...", ".a", "\u{301}"] { #expect(PathComponents.isOne(name), "\(name)") }
    }

    @Test(arguments: [
        ("~", "/home/ada"), ("~/", "/home/ada/"), ("~/a/~", "/home/ada/a/~"), ("a", "a"), ("./~/a", "./~/a"),
        ("/~", "/~"),
        ("", ""), ("~bob", nil), ("~bob/a", nil), ("~~", nil), ("~\u{301}/a", nil),
        ("~/\u{301}a", "/home/ada/\u{301}a"),
    ])
    func expandsTheHomeFolder(_ path: String, _ expanded: String?) {
        #expect(path.expandingHome("/home/ada") == expanded)
    }
}
