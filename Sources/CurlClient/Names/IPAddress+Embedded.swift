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
