import CurlClient
import Formats
import Testing

/// Special ranges: the first and the last address of each, and the addresses just outside.
@Suite struct AddressTableTests {
    @Test(arguments: [
        "0.0.0.0", "0.0.0.1", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
        "127.0.0.0", "127.0.0.1", "127.255.255.255", "168.63.129.16", "169.254.0.0", "169.254.169.254",
        "169.254.255.255", "172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.0", "192.0.2.255",
        "192.88.99.0", "192.88.99.255", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255",
        "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255", "224.0.0.0", "239.255.255.255", "240.0.0.0",
        "255.255.255.254", "255.255.255.255",
    ])
    func specialIPv4IsNotPublic(text: String) throws {
        #expect(try !address(text).isPublic)
        // The same address embedded in IPv6.
        for disguise in try disguises(of: text) { #expect(!disguise.isPublic, "\(disguise)") }
    }

    @Test(arguments: [
        "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
        "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
        "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0",
        "223.255.255.255", "8.8.8.8",
    ])
    func otherIPv4IsPublic(text: String) throws {
        #expect(try address(text).isPublic)
        for disguise in try disguises(of: text) { #expect(disguise.isPublic, "\(disguise)") }
    }

    @Test(arguments: [
        "::", "::1", "::2", "::7f00:1", "::8.8.8.8", "::fffe:8.8.8.8", "::1:0:0:0", "64:ff9a:ffff::",
        "64:ff9b:0:0:0:1::",
        "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:8.8.8.8", "100::", "100::ffff:ffff:ffff:ffff", "1fff:ffff::", "2001::",
        "2001:0:808:808::", "2001:2::1", "2001:20::1", "2001:1ff:ffff::", "2001:db8::", "2001:db8:ffff::ffff",
        "3fff::", "3fff:fff:ffff::", "4000::", "5f00::1", "fbff::1", "fc00::", "fd00::1", "fdff:ffff::", "fe80::1",
        "febf::1", "fec0::1", "fe00::1", "ff00::", "ff02::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ])
    func specialIPv6IsNotPublic(text: String) throws {
        #expect(try !address(text).isPublic)
    }

    @Test(arguments: [
        "2000::", "2000:ffff::1", "2001:200::1", "2001:db7:ffff::", "2001:db9::", "2001:4860:4860::8888",
        "2003::1", "2620:fe::fe", "2a00:1450::1", "3ffe:ffff::1", "3fff:1000::",
    ])
    func globalUnicastIPv6IsPublic(text: String) throws {
        #expect(try address(text).isPublic)
    }

    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text), "\(text)") }

    /// Mapped (RFC 4291), translated (RFC 6052) and 6to4 (RFC 3056) forms.
    private func disguises(of text: String) throws -> [IPAddress] {
        let bytes = try address(text).bytes
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes
        let translated = [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8) + bytes
        let relayed = [0x20, 0x02] + bytes + [UInt8](repeating: 0, count: 9) + [1]
        return try [mapped, translated, relayed].map { try #require(IPAddress(bytes: $0)) }
    }
}

@Suite struct NetworkTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0", true), ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("10.0.0.0/8", "9.255.255.255", false), ("10.1.2.3/8", "10.9.9.9", true), ("10.1.2.3", "10.1.2.3", true),
        ("10.1.2.3", "10.1.2.2", false), ("10.1.2.3/31", "10.1.2.2", true), ("0.0.0.0/0", "255.1.2.3", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "::1", true), ("::/0", "fd00::1", true), ("::/0", "10.1.2.3", false),
        ("::/0", "::ffff:10.1.2.3", false), ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("fd00::/8", "fd12::1", true),
        ("fd00::/8", "fc12::1", false), ("2001:db8::/33", "2001:db8:7fff::", true),
        ("2001:db8::/33", "2001:db8:8000::", false), ("2001:db8::/64", "2001:db8::ffff:0:0:1", true),
        ("2001:db8::/65", "2001:db8::ffff:0:0:1", false), ("2001:db8::1/127", "2001:db8::", true),
        ("2001:db8::1", "2001:db8::1", true), ("2001:db8::1", "2001:db8::", false),
    ])
    func networkContainsAddress(network: String, address: String, isInside: Bool) throws {
        #expect(try #require(Network(network)).contains(try #require(IPAddress(address))) == isInside)
    }

    @Test(arguments: [
        "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.0/a", "10/8", "localhost", "::/129",
        "[::1]/128", " 10.0.0.0/8",
    ])
    func refusesInvalidNetworkText(text: String) {
        #expect(Network(text) == nil)
    }
}

/// Public addresses and allowed networks.
@Suite struct AddressPolicyRuleTests {
    private func admits(_ text: String, _ networks: String...) throws -> Bool {
        let policy = AddressPolicy(allowing: try networks.map { try #require(Network($0)) })
        return policy.admits(try #require(IPAddress(text)))
    }

    @Test func admitsOnlyPublicAddressesByDefault() throws {
        #expect(try admits("8.8.8.8"))
        #expect(try admits("2001:4860:4860::8888"))
        #expect(try admits("64:ff9b::808:808"))
        for text in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "64:ff9b::7f00:1", "2002:a00:1::1"] {
            #expect(try !admits(text), "\(text)")
        }
    }

    @Test func admitsAllowedNetworks() throws {
        #expect(try admits("10.1.2.3", "10.0.0.0/8"))
        #expect(try admits("::ffff:10.1.2.3", "fd00::/8", "10.0.0.0/8"))
        #expect(try admits("fd12::1", "fd00::/8", "10.0.0.0/8"))
        #expect(try !admits("10.0.0.1", "10.0.0.0/32"))
        #expect(try !admits("127.0.0.1", "10.0.0.0/8", "::/0"))
        #expect(try admits("127.0.0.1", "0.0.0.0/0"))
        // IPv6 addresses that embed an allowed IPv4 address.
        #expect(try admits("64:ff9b::10.1.2.3", "10.0.0.0/8"))
        #expect(try admits("64:ff9b::10.1.2.3", "64:ff9b::/96"))
        #expect(try !admits("64:ff9b::10.1.2.3", "127.0.0.0/8"))
        // An allowed network does not restrict others.
        #expect(try admits("8.8.8.8", "10.0.0.0/8"))
    }
}
