import Glibc

/// The clients that share a limit on connections: an IPv4 address, or the /64 network of an IPv6 address, because one
/// client can usually use all addresses of such a network.
enum ClientNetwork: Hashable {
    case v4(UInt32)
    case v6(UInt64)

    /// nil for clients without an IP address.
    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: self = .v4(UInt32(bigEndian: raw.load(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            let words = withUnsafeBytes(of: raw.load(as: sockaddr_in6.self).sin6_addr) { bytes in
                (0..<4).map { UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)) }
            }
            self.init(words)
        default: return nil
        }
    }

    /// - Parameter words: the four words of an IPv6 address.
    private init(_ words: [UInt32]) {
        let upper = UInt64(words[0]) << 32 | UInt64(words[1])
        switch (upper, words[2], words[3]) {
        case (0, 0xFFFF, let mapped): self = .v4(mapped)
        case (0, 0, 1): self = .v4(0x7F00_0001)
        default: self = .v6(upper)
        }
    }

    var isLoopback: Bool {
        switch self {
        case .v4(let address): address >> 24 == 127
        case .v6: false
        }
    }
}
