import Formats
import Testing

@Suite struct IPAddressTests {
    @Test(arguments: ["127.0.0.1", "255.255.255.255", "0.0.0.0", "::1", "::", "2001:db8::ff00:42:8329", "fe80::1"])
    func descriptionEqualsParsedText(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == text)
        #expect(address.isIPv4 == !text.contains(":"))
        #expect(address.bytes.count == (address.isIPv4 ? 4 : 16))
        #expect(IPAddress(bytes: address.bytes) == address)
    }

    @Test func mappedIPv6AddressEqualsIPv4() throws {
        let mapped = try #require(IPAddress("::ffff:10.1.2.3"))
        #expect(mapped == IPAddress("10.1.2.3"))
        #expect(mapped.isIPv4)
        #expect(mapped.bytes == [10, 1, 2, 3])
        #expect(Set([mapped, IPAddress("10.1.2.3")]).count == 1)
        // The obsolete compatible form is a different address.
        #expect(IPAddress("::10.1.2.3")?.isIPv4 == false)
    }

    @Test(arguments: [
        "", "localhost", "1.2.3", "0x7f.1", "2130706433", "127.0.0.1:80", "[::1]", "fe80::1%lo", "1.2.3.4 ",
    ])
    func refusesInvalidAddressText(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func refusesByteCountsOtherThan4And16() {
        #expect(IPAddress(bytes: []) == nil)
        #expect(IPAddress(bytes: [1, 2, 3]) == nil)
        #expect(IPAddress(bytes: [UInt8](repeating: 0, count: 15)) == nil)
    }
}
