import Base
import HTTPServer
import HTTPTypes

/// The host names that the service accepts. Any other name may belong to a web page whose author resolves it to this
/// machine (DNS rebinding). IP addresses are always accepted, because they cannot be rebound.
struct HostRule: Sendable {
    private let names: Set<String>

    init(publicHosts: [String]) { names = Set(publicHosts.map { $0.lowercased() }).union(["localhost"]) }

    func check(_ head: RequestHead) throws(Problem) {
        guard let host = head.host else { return }
        let name = Self.name(of: host)
        guard Self.isAddress(name.utf8) || names.contains(name.lowercased()) else {
            throw Problem(
                .misdirectedRequest,
                "'\(host)' is not a name of this service. Start fetchd with --public-host \(name.lowercased()) to let it be one."
            )
        }
    }

    /// Without the port.
    private static func name(of host: String) -> Substring {
        let bytes = host.utf8
        guard bytes.first != UInt8(ascii: "[") else {
            return host[...(bytes.firstIndex(of: UInt8(ascii: "]")) ?? host.index(before: host.endIndex))]
        }
        return host[..<(bytes.firstIndex(of: UInt8(ascii: ":")) ?? host.endIndex)]
    }

    private static func isAddress(_ name: Substring.UTF8View) -> Bool {
        if name.first == UInt8(ascii: "[") {
            return name.last == UInt8(ascii: "]")
                && name.dropFirst().dropLast().allSatisfy { isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == dot }
        }
        var (numbers, number) = (1, Int?.none)
        for byte in name {
            if byte == dot {
                guard number != nil else { return false }
                (numbers, number) = (numbers + 1, nil)
            } else {
                guard isDigit(byte), (number ?? 0) <= 25 else { return false }
                number = (number ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
                guard number ?? 0 <= 255 else { return false }
            }
        }
        return numbers == 4 && number != nil
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static let dot = UInt8(ascii: ".")
}
