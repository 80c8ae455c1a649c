import Foundation
import HTTPServer
import HTTPTypes
import Hashing

/// Proves in a header field that a node of the same database has checked a request for a file, and passes it on. It does not
/// contain the caller's credentials: a cookie or a ticket is known to one node only. A request with this field is not passed
/// on again.
struct RelaySignature: Sendable {
    /// At least 32 random bytes, the same on all nodes.
    private let key: [UInt8]

    static let field = HTTPField.Name("Fetchd-Relay")!
    /// Seconds for which a signature holds.
    static let lifetime: TimeInterval = 60
    /// Seconds by which the clocks of two nodes may differ.
    private static let tolerance: TimeInterval = 60

    init(key: [UInt8]) { self.key = key }

    /// The value of the field.
    func value(for path: String, at now: Date) -> String {
        let expiry = Int64(now.timeIntervalSince1970 + Self.lifetime)
        return "\(expiry).\(code(path, expiry))"
    }

    /// Whether a node with the same key has made the field for this path. A signature that holds longer than signatures do
    /// is refused, too.
    func isGenuine(_ head: RequestHead, at now: Date) -> Bool {
        guard let value = head.headers[Self.field] else { return false }
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let expiry = Int64(parts[0]) else { return false }
        let left = TimeInterval(expiry) - now.timeIntervalSince1970
        return left > -Self.tolerance && left <= Self.lifetime + Self.tolerance
            && MessageAuthentication.isEqual(Array(code(head.path, expiry).utf8), Array(parts[1].utf8))
    }

    private func code(_ path: String, _ expiry: Int64) -> String {
        MessageAuthentication.hmacSHA256(Array("relay \(expiry) \(path)".utf8), key: key).hexadecimal
    }
}
