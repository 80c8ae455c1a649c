import Foundation
import HTTPServer
import HTTPTypes
import Hashing

/// Proves in a header field that a node of the same database has checked a request for a file, and passes it on to the node
/// that the field names. That node need not check the caller again, so the credentials of the caller are not passed on. A
/// request with this field is not passed on again.
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
    ///
    /// - Parameter node: the number of the node that has the file.
    func value(for path: String, to node: Int64, at now: Date) -> String {
        let expiry = Int64(now.timeIntervalSince1970 + Self.lifetime)
        return "\(expiry).\(node).\(code(path, node, expiry))"
    }

    /// The number of the node that the request is for. A signature that holds longer than signatures do is refused, too.
    ///
    /// - Returns: nil unless a node with the same key has made the field for this path.
    func recipient(of head: RequestHead, at now: Date) -> Int64? {
        guard let value = head.headers[Self.field] else { return nil }
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let expiry = Int64(parts[0]), let node = Int64(parts[1]) else { return nil }
        let left = TimeInterval(expiry) - now.timeIntervalSince1970
        guard left > -Self.tolerance, left <= Self.lifetime + Self.tolerance else { return nil }
        let expected = Array(code(head.path, node, expiry).utf8)
        return MessageAuthentication.isEqual(expected, Array(parts[2].utf8)) ? node : nil
    }

    private func code(_ path: String, _ node: Int64, _ expiry: Int64) -> String {
        MessageAuthentication.hmacSHA256(Array("relay \(expiry) \(node) \(path)".utf8), key: key).hexadecimal
    }
}
