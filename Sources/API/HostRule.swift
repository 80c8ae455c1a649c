import HTTPServer
import HTTPTypes
import Hashing

/// The host names that the service accepts. Any other name may belong to a web page whose author resolves it to this
/// machine (DNS rebinding). IP addresses are always accepted, because they cannot be rebound.
struct HostRule: Sendable {
    private let names: Set<String>

    init(publicHosts: [String]) { names = Set(publicHosts.map { $0.lowercased() }).union(["localhost"]) }

    func check(_ head: RequestHead) throws(Problem) {
        guard let host = head.host else { return }
        let name = Self.name(of: host)
        guard names.contains(name) || Self.isAddress(name) else {
            throw Problem(
                .misdirectedRequest,
                "'\(host)' is not a name of this service. Start fetchd with --public-host \(name) to let it be one.")
        }
    }

    private static func name(of host: String) -> String {
        let lowered = host.lowercased()
        if lowered.hasPrefix("[") { return lowered.prefix { $0 != "]" } + "]" }
        return String(lowered.prefix { $0 != ":" })
    }

    private static func isAddress(_ name: String) -> Bool {
        if name.hasPrefix("["), name.hasSuffix("]") {
            return name.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.allSatisfy { UInt8($0) != nil }
    }
}
