import Foundation
import HTTPTypes
import Hashing

/// The request of a client that wants a WebSocket (RFC 6455, section 4.2.1).
public struct WebSocketHandshake: Sendable {
    /// The value of `Sec-WebSocket-Accept`.
    let accept: String

    /// Whether the request asks for a WebSocket, maybe in a wrong way.
    public static func isRequested(by head: RequestHead) -> Bool {
        tokens(head.headers[.upgrade]).contains("websocket")
    }

    /// nil if the request breaks the rules of a handshake, or has a body in chunks: bytes behind a chunk that two readers
    /// understand differently would be frames.
    public init?(_ head: RequestHead) {
        guard head.method == .get, head.isHTTP11, Self.isRequested(by: head), head.headers[.transferEncoding] == nil,
            Self.tokens(head.headers[.connection]).contains("upgrade"),
            head.headers[.secWebSocketVersion] == Self.version, let key = head.headers[.secWebSocketKey],
            Data(base64Encoded: key)?.count == 16
        else { return nil }
        let digest = HashFunction.sha1.hash(Array((key + Self.identifier).utf8))
        accept = Data(digest).base64EncodedString()
    }

    /// The only version in use.
    public static let version = "13"
    private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    private static func tokens(_ field: String?) -> [String] {
        (field ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    }
}
