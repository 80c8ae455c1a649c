import Formats

/// Decides which addresses a request may connect to.
///
/// Without it, a client could use the service to reach the machine and its internal network (server-side request
/// forgery, SSRF). It judges the address of the socket, not the text of the URL: `0x7f.1`, `localhost` and a DNS name
/// that resolves to 127.0.0.1 have the same address.
public struct AddressPolicy: Sendable {
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
