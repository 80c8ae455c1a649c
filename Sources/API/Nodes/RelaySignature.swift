import Base
import Downloads
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Storage

/// Shows the nodes of a database that they are nodes of it, when one passes a request for a file on to another.
///
/// The request has a proof that the first node has checked the caller, so the credentials of the caller are not passed on. The
/// response has a proof that the second node has answered this request. Without it, a stranger at the former address of a node
/// could answer with any file. A request with a proof is not passed on again.
struct RelaySignature: Sendable {
    /// At least 32 random bytes, the same on all nodes.
    private let key: [UInt8]
    private let nonces = RelayNonces()

    /// Of the request: its end, its node, its nonce and its code.
    static let requestField = HTTPField.Name("Fetchd-Relay")!
    /// Of the response: its code.
    static let responseField = HTTPField.Name("Fetchd-Relay-Proof")!
    /// The fields of the request that decide about the response. They are passed on.
    static let conditions: [HTTPField.Name] = [.range, .ifRange, .ifNoneMatch]
    /// Seconds for which a request holds.
    static let lifetime: TimeInterval = 60
    /// Seconds by which the clocks of two nodes may differ.
    static let tolerance: TimeInterval = 60

    init(key: [UInt8]) { self.key = key }

    /// A request to another node.
    struct Request: Sendable {
        /// The value of `requestField`.
        let value: String
        fileprivate let code: String
    }

    /// - Parameters:
    ///   - head: the request of the client.
    ///   - node: the number of the node that has the file.
    func request(for head: RequestHead, to node: Int64, at now: Date) -> Request {
        let expiry = Int64(now.timeIntervalSince1970 + Self.lifetime)
        let nonce = [UInt8].random(count: Self.nonceBytes).hexadecimal
        let code = code(head, node, expiry, nonce)
        return Request(value: "\(expiry).\(node).\(nonce).\(code)", code: code)
    }

    /// Whether the node that this request was made for has made the head of the response.
    func isProven(_ response: Response, to request: Request) -> Bool {
        guard let proof = response.headers[Self.responseField] else { return false }
        return MessageAuthentication.isEqual(Array(code(response, request.code).utf8), Array(proof.utf8))
    }

    /// The number of the node that the request is for. A request that holds longer than requests do is refused, too, and a
    /// request that was received before.
    ///
    /// - Returns: nil unless a node with the same key has made the field for this request.
    func recipient(of head: RequestHead, at now: Date) -> Int64? {
        guard let (node, expiry, nonce) = genuine(head) else { return nil }
        let left = TimeInterval(expiry) - now.timeIntervalSince1970
        guard left > -Self.tolerance, left <= Self.lifetime + Self.tolerance else { return nil }
        return nonces.take(nonce, at: now) ? node : nil
    }

    /// The response to a request that another node has passed on, with its proof.
    func proven(_ response: Response, to head: RequestHead) -> Response {
        guard let (node, expiry, nonce) = genuine(head) else { return response }
        var response = response
        response.headers[Self.responseField] = code(response, code(head, node, expiry, nonce))
        return response
    }

    private static let nonceBytes = 16

    private func genuine(_ head: RequestHead) -> (node: Int64, expiry: Int64, nonce: String)? {
        guard let value = head.headers[Self.requestField] else { return nil }
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, let expiry = Int64(parts[0]), let node = Int64(parts[1]),
            parts[2].utf8.count == 2 * Self.nonceBytes
        else { return nil }
        let nonce = String(parts[2])
        let expected = Array(code(head, node, expiry, nonce).utf8)
        return MessageAuthentication.isEqual(expected, Array(parts[3].utf8)) ? (node, expiry, nonce) : nil
    }

    /// The query is not passed on. No part contains a line break.
    private func code(_ head: RequestHead, _ node: Int64, _ expiry: Int64, _ nonce: String) -> String {
        let fields = Self.conditions.map { head.headers[$0] ?? "" }
        return code(["request", "\(expiry)", "\(node)", nonce, head.method.rawValue, head.path] + fields)
    }

    private func code(_ response: Response, _ request: String) -> String {
        let fields = [HTTPField.Name.eTag, .contentRange].map { response.headers[$0] ?? "" }
        let length = response.body.knownLength.map(String.init) ?? ""
        return code(["response", request, "\(response.status.code)", length] + fields)
    }

    private func code(_ lines: [String]) -> String {
        let text = (["relay"] + lines).joined(separator: "\n")
        return MessageAuthentication.hmacSHA256(Array(text.utf8), key: key).hexadecimal
    }
}

/// Recognizes the requests that another node has passed on to this one.
struct RelayStep: RequestStep {
    let signature: RelaySignature
    /// The number of this node; nil: no other node passes requests on to it.
    let number: Int64?
    let time: any TimeSource

    /// - Throws: 421 if the request is for a third node. The URL of that node leads here: a node has taken over its address, or
    ///   it is the address of a load balancer.
    func apply(to request: inout IncomingRequest) throws(Problem) -> Response? {
        guard let recipient = signature.recipient(of: request.head, at: time.now) else { return nil }
        guard recipient == number else {
            let own = number.map { "node \($0)" } ?? "a service without other nodes"
            throw Problem(
                .misdirectedRequest,
                "The URL of node \(recipient) leads to \(own). Start node \(recipient) with a --node-url that only it answers."
            )
        }
        request.isRelayed = true
        return nil
    }
}

/// The nonces of the requests that other nodes have passed on, for as long as such a request holds.
final class RelayNonces: Sendable {
    private struct State {
        var recent: Set<String> = []
        var former: Set<String> = []
        /// When `recent` began.
        var began = Date.distantPast
    }

    private let state = Locked(State())
    /// Only nodes can add nonces. With more than these in three minutes, the oldest are forgotten, and such a request could be repeated.
    private static let limit = 200_000

    /// - Returns: false if it was taken before.
    func take(_ nonce: String, at now: Date) -> Bool {
        state.withLock { state in
            let age = now.timeIntervalSince(state.began)
            if age > RelaySignature.lifetime + 2 * RelaySignature.tolerance || state.recent.count >= Self.limit {
                (state.former, state.recent, state.began) = (state.recent, [], now)
            }
            return !state.former.contains(nonce) && state.recent.insert(nonce).inserted
        }
    }
}
