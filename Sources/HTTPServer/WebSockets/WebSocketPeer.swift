import CMicroHTTPD
import Descriptors
import Glibc

/// One open WebSocket, confined to the thread of the loop.
final class WebSocketPeer {
    let number: Int
    let socket: Descriptor
    let network: ClientNetwork?
    let receiver: WebSocketReceiver
    var decoder: WebSocketDecoder
    /// Bytes that the kernel has not taken yet.
    var unsent = ByteQueue()
    /// Messages that wait until the receiver has returned.
    var inbox: [[UInt8]] = []
    /// The task of the receiver.
    var task: Task<Void, Never>?
    /// The events that epoll reports.
    var interest = EPOLLIN.rawValue
    var lastHeard: Connection.Instant
    let openedAt: Connection.Instant
    var isTrusted = false
    var isPinged = false
    /// A close frame was sent or received. No message is read any more.
    var isClosing = false
    /// The peer has sent a close frame, so the socket closes when everything is sent.
    var hasPeerClosed = false
    /// Set when everything is sent. What the peer still sends is discarded until then: if a socket with unread bytes is
    /// closed, the kernel resets the connection, and the peer may not read the close frame.
    var drainsUntil: Connection.Instant?

    init(_ new: NewWebSocket, at now: Connection.Instant) {
        (number, socket, network, receiver) = (new.number, new.socket, new.network, new.receiver)
        decoder = WebSocketDecoder(limit: Self.largestMessage)
        (lastHeard, openedAt) = (now, now)
    }

    /// As for the body of a request at `/jsonrpc`.
    static let largestMessage = 2 << 20
    /// A peer that leaves so many bytes unread is disconnected.
    static let mostUnsent = 8 << 20

    /// While the receiver works, or bytes are unsent, nothing more is read.
    var wantedInterest: UInt32 {
        if unsent.count > 0 { return EPOLLOUT.rawValue }
        if drainsUntil != nil { return EPOLLIN.rawValue }
        return isClosing || task != nil ? 0 : EPOLLIN.rawValue
    }
}
