import CurlClient
import Formats

/// The ways to write an address as the host of a URL.
enum AddressSpellings {
    /// - Parameter text: the standard text of an address.
    static func all(of text: String) -> [String] {
        guard let address = IPAddress(text) else { return [] }
        return address.isIPv4 ? ipv4(address.bytes) : ipv6(text, address.bytes)
    }

    private static func ipv4(_ bytes: [UInt8]) -> [String] {
        let dotted = bytes.map { "\($0)" }.joined(separator: ".")
        let number = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let (hex, octal) = (bytes.map { "0x" + hexadecimal($0) }, bytes.map { "0" + String($0, radix: 8) })
        return [
            dotted, dotted + ".", "\(number)", "0x" + String(number, radix: 16), "0X" + String(number, radix: 16),
            "0" + String(number, radix: 8), hex.joined(separator: "."), octal.joined(separator: "."),
            "\(hex[0]).\(octal[1]).\(bytes[2]).\(hex[3])", "0000\(octal[0]).\(bytes[1]).\(bytes[2]).\(bytes[3])",
            "\(bytes[0]).\(number & 0xFF_FFFF)", "\(bytes[0]).\(bytes[1]).\(number & 0xFFFF)",
            "\(hex[0]).0x\(String(number & 0xFF_FFFF, radix: 16))",
            dotted.utf8.map { "%" + hexadecimal($0) }.joined(), dotted.replacing(".", with: "%2e"),
        ] + embedding(bytes, dotted).map { "[\($0)]" }
    }

    /// IPv6 addresses that lead to the IPv4 address.
    private static func embedding(_ bytes: [UInt8], _ dotted: String) -> [String] {
        let (high, low) = (hexadecimal(bytes[0]) + hexadecimal(bytes[1]), hexadecimal(bytes[2]) + hexadecimal(bytes[3]))
        let inverted = bytes.map { ~$0 }.map(hexadecimal)
        return [
            "::ffff:\(dotted)", "::ffff:\(high):\(low)", "0:0:0:0:0:FFFF:\(high):\(low)",
            "::\(dotted)", "0000:0000:0000:0000:0000:0000:\(high):\(low)",
            "64:ff9b::\(dotted)", "64:ff9b::\(high):\(low)", "0064:FF9B:0:0:0:0:\(high):\(low)",
            "64:ff9b:1::\(dotted)",
            "64:ff9b:1:\(high):\(hexadecimal(0))\(hexadecimal(bytes[2])):\(hexadecimal(bytes[3]))00::",
            "2002:\(high):\(low)::1", "2002:\(high):\(low):ffff:ffff:ffff:ffff:ffff",
            "2001:0:\(high):\(low)::1", "2001:0:808:808:0:0:\(inverted[0])\(inverted[1]):\(inverted[2])\(inverted[3])",
            "::ffff:\(dotted)%25lo",
        ]
    }

    private static func ipv6(_ text: String, _ bytes: [UInt8]) -> [String] {
        let groups = stride(from: 0, to: 16, by: 2).map { hexadecimal(bytes[$0]) + hexadecimal(bytes[$0 + 1]) }
        let whole = groups.joined(separator: ":")
        let last = bytes.suffix(4).map { "\($0)" }.joined(separator: ".")
        return [
            text, text.uppercased(), whole, whole.uppercased(), groups.prefix(6).joined(separator: ":") + ":" + last,
            text + "%25lo", text + "%251",
        ].map { "[\($0)]" }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}
