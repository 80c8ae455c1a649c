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

    /// 4 or 16 bytes, in network order.
    public var bytes: [UInt8] {
        let all =
            (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - 8 * $0)) }
            + (0..<8).map { UInt8(truncatingIfNeeded: low >> (56 - 8 * $0)) }
        return isIPv4 ? Array(all.suffix(4)) : all
    }

    /// - Parameter bytes: 4 or 16 bytes in network order; any other number gives nil.
    public init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4:
            high = 0
            low = Self.mappedPrefix | UInt64(bigEndianBytes: bytes)
        case 16:
            high = UInt64(bigEndianBytes: bytes.prefix(8))
            low = UInt64(bigEndianBytes: bytes.dropFirst(8))
        default:
            return nil
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
    init?(_ address: UnsafeRawPointer, length: Int) {
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
        (high, low) = withUnsafeBytes(of: address) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}

extension IPAddress: CustomStringConvertible {
    /// `127.0.0.1`, `2001:db8::1`.
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = bytes.withUnsafeBytes { bytes in
            inet_ntop(isIPv4 ? AF_INET : AF_INET6, bytes.baseAddress, &text, socklen_t(INET6_ADDRSTRLEN))
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension UInt64 {
    fileprivate init(bigEndianBytes bytes: some Collection<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// Which addresses are public, by the registries of special-purpose addresses of IANA (RFC 6890;
/// iana.org/assignments/iana-ipv4-special-registry, .../iana-ipv6-special-registry) and that of the IPv6 address space.
/// In doubt, an address is not public.
extension IPAddress {
    /// Whether the address is globally routable. Addresses of a machine, a site or a provider are not public.
    public var isPublic: Bool {
        if let embeddedIPv4 { return embeddedIPv4.isPublic }
        if isIPv4 { return !Self.specialIPv4.contains { $0.contains(self) } }
        // The range that is allocated as global unicast (RFC 4291, 2.4). Outside it are the unspecified address and the
        // loopback (::, ::1), IPv4-compatible addresses (::/96), local translation (64:ff9b:1::/48, RFC 8215), the
        // discard prefix (100::/64), segment routing (5f00::/16), unique local (fc00::/7), link-local (fe80::/10),
        // site-local (fec0::/10) and multicast (ff00::/8) addresses.
        return Self.globalUnicast.contains(self) && !Self.specialIPv6.contains { $0.contains(self) }
    }

    private static let globalUnicast = network("2000::/3")

    private static let specialIPv4 = [
        network("0.0.0.0/8"),  // this host on this network (RFC 791, RFC 1122)
        network("10.0.0.0/8"),  // private use (RFC 1918)
        network("100.64.0.0/10"),  // between a provider and its customers (RFC 6598)
        network("127.0.0.0/8"),  // loopback (RFC 1122)
        network("168.63.129.16/32"),  // in no registry: the host of a virtual machine in Azure
        network("169.254.0.0/16"),  // link-local (RFC 3927), and the metadata services of clouds
        network("172.16.0.0/12"),  // private use (RFC 1918)
        network("192.0.0.0/24"),  // protocol assignments (RFC 6890)
        network("192.0.2.0/24"),  // documentation (RFC 5737)
        network("192.88.99.0/24"),  // relays of 6to4, deprecated (RFC 7526)
        network("192.168.0.0/16"),  // private use (RFC 1918)
        network("198.18.0.0/15"),  // benchmarks (RFC 2544)
        network("198.51.100.0/24"),  // documentation (RFC 5737)
        network("203.0.113.0/24"),  // documentation (RFC 5737)
        network("224.0.0.0/4"),  // multicast (RFC 5771)
        network("240.0.0.0/4"),  // reserved (RFC 1112), and the limited broadcast (RFC 919)
    ]

    /// Special ranges inside the global unicast range.
    private static let specialIPv6 = [
        network("2001::/23"),  // protocol assignments (RFC 2928): Teredo (RFC 4380), benchmarks, ORCHID and more
        network("2001:db8::/32"),  // documentation (RFC 3849)
        network("3fff::/20"),  // documentation (RFC 9637)
    ]

    static func network(_ text: String) -> Network {
        guard let network = Network(text) else { preconditionFailure("\(text) is no network") }
        return network
    }
}

/// The IPv4 addresses to which IPv6 addresses lead.
extension IPAddress {
    /// The IPv4 address to which a translator or a relay of the public internet sends packets for this IPv6 address.
    var embeddedIPv4: IPAddress? {
        // RFC 6052, 2.1: DNS64. RFC 3056: 6to4.
        if Self.translated.contains(self) { return IPAddress(bytes: bytes[12...]) }
        if Self.sixToFour.contains(self) { return IPAddress(bytes: bytes[2..<6]) }
        return nil
    }

    /// Every IPv4 address to which a translator, a relay or a tunnel could send packets for this IPv6 address. It is for
    /// rules that refuse addresses, so it includes each reading of an address that has several.
    var possibleIPv4: [IPAddress] {
        guard !isIPv4 else { return [] }
        return ([embeddedIPv4] + localTranslations + tunnels).compactMap(\.self)
    }

    /// `64:ff9b:1::/48` (RFC 8215) is for translators of a site, which choose the length of their prefix. The byte after
    /// the first 64 bits is not used (RFC 6052, 2.2).
    private var localTranslations: [IPAddress?] {
        guard Self.locallyTranslated.contains(self) else { return [] }
        let places = [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]]
        return places.map { place in IPAddress(bytes: place.map { bytes[$0] }) }
    }

    private var tunnels: [IPAddress?] {
        var found: [IPAddress?] = []
        // RFC 4291, 2.5.5.1: IPv4-compatible.
        if Self.compatible.contains(self) { found.append(IPAddress(bytes: bytes[12...])) }
        // RFC 4380, 4: the address of the server, and that of the client with all bits inverted.
        if Self.teredo.contains(self) {
            found += [IPAddress(bytes: bytes[4..<8]), IPAddress(bytes: bytes[12...].map { ~$0 })]
        }
        // RFC 5214, 6.1: ISATAP.
        if bytes[8] & 0xFD == 0, Array(bytes[9..<12]) == [0, 0x5E, 0xFE] {
            found.append(IPAddress(bytes: bytes[12...]))
        }
        return found
    }

    private static let translated = network("64:ff9b::/96")
    private static let locallyTranslated = network("64:ff9b:1::/48")
    private static let sixToFour = network("2002::/16")
    private static let compatible = network("::/96")
    private static let teredo = network("2001::/32")
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

/// Decides which addresses a request may connect to.
///
/// Without it, a client could use the service to reach the machine and its internal network (server-side request
/// forgery, SSRF). It judges the address of the socket, not the text of the URL: `0x7f.1`, `localhost` and a DNS name
/// that resolves to 127.0.0.1 have the same address.
public struct AddressPolicy: Sendable {
    /// The addresses that need no permission.
    public enum Base: Sendable {
        case publicAddresses, allAddresses
    }

    private let base: Base
    private let allowed: [Network]
    private let denied: [Network]

    /// - Parameters:
    ///   - allowed: networks that are admitted in addition to `base`.
    ///   - denied: networks that are never admitted. They take precedence over `base` and `allowed`.
    public init(
        admitting base: Base = .publicAddresses, allowing allowed: [Network] = [], denying denied: [Network] = []
    ) {
        self.base = base
        self.allowed = allowed
        self.denied = denied
    }

    /// Whether a request may connect to the address. `CurlClient.Options.admitsAddress` can call it.
    public func admits(_ address: IPAddress) -> Bool {
        !isDenied(address) && (isOfBase(address) || isAllowed(address) || address.embeddedIPv4.map(isAllowed) ?? false)
    }

    private func isOfBase(_ address: IPAddress) -> Bool {
        switch base {
        case .publicAddresses: address.isPublic
        case .allAddresses: true
        }
    }

    private func isAllowed(_ address: IPAddress) -> Bool { allowed.contains { $0.contains(address) } }

    /// A denied IPv4 address must not be reached through an IPv6 address that leads to it either.
    private func isDenied(_ address: IPAddress) -> Bool {
        guard !denied.isEmpty else { return false }
        return ([address] + address.possibleIPv4).contains { address in denied.contains { $0.contains(address) } }
    }
}
