import HTTPServer
import HTTPTypes
import Hashing

/// Checks the bearer token. Without a token, every client that can connect may send requests.
struct Authentication: Sendable {
    /// The SHA-256 of the token. All digests have one length, so the time of a comparison does not reveal the token's
    /// length.
    private let token: [UInt8]?
    /// A name for the callers that does not reveal the token. Clients with the same token share a name; without a token
    /// all clients share one.
    let caller: String

    init(token: String?) {
        self.token = token.map { HashFunction.sha256.hash(Array($0.utf8)) }
        caller = self.token?.prefix(8).hexadecimal ?? "anybody"
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
