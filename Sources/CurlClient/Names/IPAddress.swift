import Glibc

/// An IPv4 or IPv6 address as bytes.
///
/// Both families use 16 bytes, IPv4 in its mapped form. So `::ffff:127.0.0.1` equals 127.0.0.1, and a rule for one form
/// cannot be bypassed with the other.
public struct IPAddress: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    private static let mappedPrefix: UInt64 = 0xFFFF_0000_0000

    public var isIPv4: Bool {
        high == 0 && low >> 32 == 0xFFFF
    }

    /// 4 or 16 bytes, in network order.
    public var bytes: [UInt8] {
        let all =
            (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - 8 * $0)) }
            + (0..<8).map { UInt8(truncatingIfNeeded: low >> (56 - 8 * $0)) }
        return isIPv4 ? Array(all.suffix(4)) : all
    }

    /// From 4 or 16 bytes in network order.
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

    private static func mask(_ bits: Int) -> UInt64 {
        bits <= 0 ? 0 : bits >= 64 ? .max : ~(.max >> bits)
    }

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
    fileprivate init(bigEndianBytes bytes: some Collection<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
