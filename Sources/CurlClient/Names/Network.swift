/// A network in CIDR notation (RFC 4632, RFC 4291 section 2.3): an address and the length of its prefix in bits.
public struct Network: Sendable, Hashable, CustomStringConvertible {
    public let address: IPAddress
    /// 0 to 32 for IPv4, 0 to 128 for IPv6.
    public let prefixLength: Int

    /// Parses `10.0.0.0/8` or `fd00::/8`. An address without a prefix length is a network with one address.
    public init?(_ text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count <= 2, let address = IPAddress(String(halves[0])) else { return nil }
        let bits = address.bytes.count * 8
        guard let length = halves.count == 2 ? Int(halves[1]) : bits, (0...bits).contains(length) else { return nil }
        self.address = address
        prefixLength = length
    }

    public var description: String { "\(address)/\(prefixLength)" }

    /// Whether the network contains the address. An IPv6 network contains no IPv4 address, for any prefix length.
    public func contains(_ other: IPAddress) -> Bool {
        other.isIPv4 == address.isIPv4 && other.shares(bits: prefixLength, with: address)
    }
}
