import HTTPServer
import HTTPTypes
import Hashing

/// Who may ask: everybody who reaches a loopback address, and whoever holds the token where there is one.
struct Authentication: Sendable {
    /// SHA-256: digests have one length, so that the time of a comparison does not show that of the token.
    private let token: [UInt8]?

    init(token: String?) { self.token = token.map { HashFunction.sha256.hash(Array($0.utf8)) } }

    /// A name for who asks that gives nothing away: of those who hold the same token, or of all where there is none.
    func caller(of head: RequestHead) -> String {
        guard let token else { return "anybody" }
        return token.prefix(8).hexadecimal
    }

    /// - Throws: 401 with a challenge (RFC 6750, section 3).
    func check(_ head: RequestHead) throws(Problem) {
        guard let token else { return }
        let words = (head.headers[.authorization] ?? "").split(separator: " ", omittingEmptySubsequences: true)
        let given = words.count == 2 && words[0].lowercased() == "bearer" ? words[1] : ""
        guard MessageAuthentication.isEqual(HashFunction.sha256.hash(Array(given.utf8)), token) else {
            var problem = Problem(.unauthorized, "Send the service's token as Authorization: Bearer TOKEN.")
            problem.headers[.wwwAuthenticate] = "Bearer"
            throw problem
        }
    }
}

/// Which names the service answers to. A web page that has its own name resolve to this machine is a stranger (DNS
/// rebinding); addresses cannot be rebound.
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
