import Configuration
import Testing

/// Whose `X-Forwarded-For` is believed, and which address it gives.
@Suite struct TrustedProxiesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var trusted = ["10.0.0.0/8", "2001:db8::/32"]
        var peer = "10.0.0.1"
        var forwarded: String?
        var client: String?

        var testDescription: String { "\(trusted) \(peer) \(forwarded ?? "-")" }
    }

    @Test(arguments: [
        Row(forwarded: "203.0.113.9", client: "203.0.113.9"),
        Row(forwarded: "1.2.3.4, 203.0.113.9", client: "203.0.113.9"),
        // The last addresses are those of proxies.
        Row(forwarded: "1.2.3.4, 203.0.113.9, 10.0.0.2,10.0.0.3", client: "203.0.113.9"),
        Row(forwarded: "10.0.0.4, 10.0.0.2", client: "10.0.0.4"),
        Row(forwarded: "::ffff:203.0.113.9", client: "203.0.113.9"),
        Row(forwarded: "203.0.113.9:5000", client: "203.0.113.9"),
        Row(forwarded: "[2001:db9::1]:443", client: "2001:db9::1"),
        Row(forwarded: "[2001:db9::1]", client: "2001:db9::1"),
        Row(forwarded: "\t2001:DB9::0:1 ", client: "2001:db9::1"),
        Row(peer: "2001:db8::5", forwarded: "203.0.113.9", client: "203.0.113.9"),
        Row(trusted: ["unix"], peer: "unix", forwarded: "203.0.113.9", client: "203.0.113.9"),
        Row(trusted: ["unix", "127.0.0.1"], peer: "unix", forwarded: "203.0.113.9, 127.0.0.1", client: "203.0.113.9"),
        // The client of the last proxy is known, and what is before an unknown text is not believed.
        Row(forwarded: "1.2.3.4, unknown, 10.0.0.2", client: "10.0.0.2"),
        Row(forwarded: "1.2.3.4, unknown", client: nil), Row(forwarded: "1.2.3.4,", client: nil),
        Row(forwarded: "", client: nil), Row(forwarded: "203.0.113.9 x", client: nil), Row(forwarded: nil, client: nil),
        Row(forwarded: "0x7f.1", client: nil), Row(forwarded: "localhost", client: nil),
        // These are no trusted proxies.
        Row(peer: "203.0.113.1", forwarded: "1.2.3.4"), Row(peer: "unix", forwarded: "1.2.3.4"),
        Row(peer: "unknown", forwarded: "1.2.3.4"), Row(trusted: [], forwarded: "1.2.3.4"),
        Row(trusted: ["unix"], forwarded: "1.2.3.4"),
    ])
    func namesClient(_ row: Row) throws {
        let proxies = try TrustedProxies(row.trusted)
        #expect(proxies.client(of: row.peer, forwarded: row.forwarded) == row.client)
        #expect(proxies.areAny == !row.trusted.isEmpty)
    }

    @Test(arguments: ["localhost", "10.0.0.0/33", "", "unix:/run/x", "*"]) func refusesOtherTexts(_ text: String) {
        #expect(throws: ValueFault.self) { try TrustedProxies(["10.0.0.0/8", text]) }
    }
}
