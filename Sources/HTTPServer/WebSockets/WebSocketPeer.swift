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
    /// The memory of the answer that is unsent.
    var answer: AnswerShare?
    /// The largest number of unsent bytes before the peer is disconnected.
    var unsentLimit = WebSocketPeer.mostUnsent
    /// Messages that wait until the receiver has returned, and until the peer has read the answer before.
    var inbox: [[UInt8]] = []
    /// The task of the receiver.
    var task: Task<Void, Never>?
    /// The bytes of the message that the receiver has.
    var bytesInWork = 0
    /// The bytes for which this socket has taken memory from the budget of bodies.
    var budgetedBytes = 0
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
    /// A peer that leaves so many bytes unread, besides one answer, is disconnected.
    static let mostUnsent = 64 << 10

    /// The bytes of all messages that are kept.
    var receivedBytes: Int { inbox.reduce(decoder.heldBytes + bytesInWork) { $0 + $1.count } }

    /// While the receiver works, or bytes are unsent, nothing more is read.
    var wantedInterest: UInt32 {
        if unsent.count > 0 { return EPOLLOUT.rawValue }
        if drainsUntil != nil { return EPOLLIN.rawValue }
        return isClosing || task != nil ? 0 : EPOLLIN.rawValue
    }
}
