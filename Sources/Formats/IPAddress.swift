import Glibc

/// An IPv4 or IPv6 address as bytes.
///
/// Both families use 16 bytes, IPv4 in its mapped form. So `::ffff:127.0.0.1` equals 127.0.0.1, and a rule for one form
/// cannot be bypassed with the other.
public struct IPAddress: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    private static let mappedPrefix: UInt64 = 0xFFFF_0000_0000

    public var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    public var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0.suffix(isIPv4 ? 4 : 16)) }
    }

    /// - Parameter bytes: 4 or 16 bytes in network order; any other number gives nil.
    public init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self.init(high: 0, low: Self.mappedPrefix | UInt64(bigEndianBytes: bytes))
        case 16:
            self.init(
                high: UInt64(bigEndianBytes: bytes.prefix(8)), low: UInt64(bigEndianBytes: bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// Parses the standard text of an address: dotted quad or RFC 4291. It refuses names, ports, scopes, and the other
    /// forms that resolvers accept (`0x7f.1`).
    public init?(_ text: String) {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4)
            return
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        self.init(v6)
    }

    /// Whether the first bits of both addresses are equal, counted within their family. Both must have the same family.
    func shares(bits: Int, with other: IPAddress) -> Bool {
        let bits = isIPv4 ? bits + 96 : bits
        return (high ^ other.high) & Self.mask(bits) == 0 && (low ^ other.low) & Self.mask(bits - 64) == 0
    }

    private static func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(.max >> bits) }

    /// Reads a socket address of `length` bytes; nil for other families.
    public init?(_ address: UnsafeRawPointer, length: Int) {
        guard length >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(address.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            self.init(address.loadUnaligned(as: sockaddr_in.self).sin_addr)
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            self.init(address.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
        default:
            return nil
        }
    }

    private init(_ address: in_addr) {
        high = 0
        low = Self.mappedPrefix | UInt64(UInt32(bigEndian: address.s_addr))
    }

    private init(_ address: in6_addr) {
        high = withUnsafeBytes(of: address) { UInt64(bigEndianBytes: $0.prefix(8)) }
        low = withUnsafeBytes(of: address) { UInt64(bigEndianBytes: $0.suffix(8)) }
    }

    /// The first address of the network with this length of the prefix, counted as in IPv6.
    public func prefix(_ bits: Int) -> IPAddress {
        IPAddress(high: high & Self.mask(bits), low: low & Self.mask(bits - 64))
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension IPAddress: CustomStringConvertible {
    public var description: String {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { bytes in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
                let (family, start) = isIPv4 ? (AF_INET, 12) : (AF_INET6, 0)
                inet_ntop(family, bytes.baseAddress! + start, text.baseAddress!, socklen_t(text.count))
                return String(cString: text.baseAddress!)
            }
        }
    }
}

extension UInt64 {
    fileprivate init(bigEndianBytes bytes: some Collection<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

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
