/// The acceptance of a WebSocket.
public struct WebSocketUpgrade: Sendable {
    let handshake: WebSocketHandshake
    let open: @Sendable (WebSocket) -> WebSocketReceiver

    /// - Parameter open: called once, on a thread of the server, before the first message. It must not block.
    public init(_ handshake: WebSocketHandshake, open: @escaping @Sendable (WebSocket) -> WebSocketReceiver) {
        (self.handshake, self.open) = (handshake, open)
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
        (self.receive, self.closed) = (receive, closed)
    }
}

/// The answer to a message of a WebSocket.
public struct WebSocketReply: Sendable {
    let text: [UInt8]
    /// The memory that the answer takes until the peer has read it; nil if it is not counted.
    let memory: AnswerShare?

    public init(_ text: [UInt8], memory: AnswerShare? = nil) { (self.text, self.memory) = (text, memory) }
}
