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
}
