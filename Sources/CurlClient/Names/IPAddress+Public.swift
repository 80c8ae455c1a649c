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
