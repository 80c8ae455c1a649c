import HTTPSemantics
import Testing

/// W3C Trace Context, sections 3.2 and 3.3.
@Suite struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00-\(trace)-00f067aa0ba902b7-01"

    @Test func readsAValidParent() throws {
        let context = try #require(TraceContext(parent: Self.parent))
        #expect(context.traceID == Self.trace && context.parentID == "00f067aa0ba902b7" && context.flags == "01")
        #expect(context.parent == Self.parent && context.state == nil)
    }

    @Test(arguments: [
        "", "00", String(parent.dropLast()), parent + "-", parent + "-00", parent + "0", parent + ",\(parent)",
        " " + parent, parent + " ", parent.uppercased(),
        "ff-\(trace)-00f067aa0ba902b7-01", "0x-\(trace)-00f067aa0ba902b7-01", "00-\(trace)-0000000000000000-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00_\(trace)-00f067aa0ba902b7-01",
        "00-\(trace)_00f067aa0ba902b7-01", "00-\(trace)-00f067aa0ba902b7_01", "00-\(trace)-00f067aa0ba902b7-0g",
        "00-4bf92f3577b34da6a3ce929d0e0e473\u{E9}-00f067aa0ba902b7-01", "01-\(trace)-00f067aa0ba902b7-01x",
        "01-\(trace)-00f067aa0ba902b7-01, \(parent)",
    ])
    func ignoresAnInvalidParent(_ parent: String) { #expect(TraceContext(parent: parent, state: "a=b") == nil) }

    /// A later version is read as far as version 00 goes.
    @Test(arguments: ["", "-what-the-future-brings"]) func readsALaterVersion(_ rest: String) {
        let context = TraceContext(parent: "cc-\(Self.trace)-00f067aa0ba902b7-01" + rest)
        #expect(context?.parent == Self.parent)
    }

    @Test func aChildHasTheTraceAndAnotherParent() throws {
        let context = try #require(TraceContext(parent: Self.parent, state: "a=b"))
        let child = context.child(random: 0xAB)
        #expect(child.parent == "00-\(Self.trace)-00000000000000ab-01" && child.state == "a=b")
        #expect(context.child(random: 0).parentID == "0000000000000001")
        #expect(TraceContext(parent: context.child().parent) != nil && context.child() != context.child())
    }

    @Test(arguments: [
        ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
        (" rojo=1 ,\tcongo=2, ", "rojo=1,congo=2"), ("fw529a3039@dt=x/y:z", "fw529a3039@dt=x/y:z"), ("a=b c", "a=b c"),
        ("0a=1", "0a=1"),
    ])
    func keepsAValidState(_ given: String, _ kept: String) {
        #expect(TraceContext(parent: Self.parent, state: given)?.state == kept)
    }

    /// The parent is kept without it.
    @Test(arguments: [
        "", ",", "a", "a=", "=b", "A=b", "a=b=c", "a=b\u{1}", "a=\u{E9}", "a b=c", "@a=b", "a=1,a=2",
        "a=" + String(repeating: "x", count: 257), String(repeating: "k", count: 257) + "=x",
        (0..<33).map { "k\($0)=v" }.joined(separator: ","),
        (0..<3).map { "k\($0)=" + String(repeating: "v", count: 200) }.joined(separator: ","),
    ])
    func dropsAnInvalidState(_ state: String) throws {
        let context = try #require(TraceContext(parent: Self.parent, state: state))
        #expect(context.state == nil)
    }
}
