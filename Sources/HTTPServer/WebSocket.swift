import Base
import Foundation
import HTTPTypes

/// An open WebSocket. Any thread may use it; after the socket has closed, nothing happens.
public struct WebSocket: Sendable, Hashable {
    let number: Int
    let loop: WebSocketLoop

    /// Sends a text message. A peer that does not read is disconnected.
    public func send(_ text: [UInt8]) { loop.post(.send(number, text)) }

    /// Lets the socket stay open. Until then it is closed after a minute, so that strangers cannot hold sockets.
    public func trust() { loop.post(.trust(number)) }

    /// Closes the socket, with the code for a service that cannot serve it now.
    public func close() { loop.post(.close(number)) }

    public static func == (one: WebSocket, other: WebSocket) -> Bool {
        one.number == other.number && one.loop === other.loop
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// The acceptance of a WebSocket (RFC 6455, section 4.2).
public struct WebSocketUpgrade: Sendable {
    /// The value of `Sec-WebSocket-Accept`.
    let accept: String
    let open: @Sendable (WebSocket) -> WebSocketReceiver

    /// nil if the request breaks the rules of a handshake, or has a body in chunks: bytes behind a chunk that two readers
    /// understand differently would be frames.
    ///
    /// - Parameter open: called once, on a thread of the server, before the first message. It must not block.
    public init?(_ head: RequestHead, open: @escaping @Sendable (WebSocket) -> WebSocketReceiver) {
        guard head.method == .get, head.isHTTP11, Self.isRequested(by: head), head.headers[.transferEncoding] == nil,
            Self.tokens(head.headers[.connection]).contains("upgrade"),
            head.headers[.secWebSocketVersion] == Self.version, let key = head.headers[.secWebSocketKey],
            Data(base64Encoded: key)?.count == 16
        else { return nil }
        accept = Data(HashFunction.sha1.hash(Array((key + Self.identifier).utf8))).base64EncodedString()
        self.open = open
    }

    /// Whether the request asks for a WebSocket, maybe in a wrong way.
    public static func isRequested(by head: RequestHead) -> Bool {
        tokens(head.headers[.upgrade]).contains("websocket")
    }

    /// The only version in use.
    public static let version = "13"
    private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    private static func tokens(_ field: String?) -> [String] {
        (field ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    }
}

/// What the owner of a WebSocket does with its messages.
public struct WebSocketReceiver: Sendable {
    let receive: @Sendable ([UInt8]) async -> WebSocketReply?
    let closed: @Sendable () -> Void

    /// - Parameters:
    ///   - receive: called for each message, one after another; the result is sent. Its task is cancelled when the socket
    ///     closes.
    ///   - closed: called once, after which nothing is received or sent.
    public init(
        receive: @escaping @Sendable ([UInt8]) async -> WebSocketReply?, closed: @escaping @Sendable () -> Void
    ) {
        self.receive = receive
        self.closed = closed
    }
}

public struct WebSocketReply: Sendable {
    let text: [UInt8]
    /// The memory that the answer takes until the peer has read it; nil if it is not counted.
    let memory: ResponseShare?

    public init(_ text: [UInt8], memory: ResponseShare? = nil) {
        self.text = text
        self.memory = memory
    }
}
