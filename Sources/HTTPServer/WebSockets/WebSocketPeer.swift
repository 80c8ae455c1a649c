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
    /// A close frame was sent or received. Nothing is read any more, and the socket closes when everything is sent.
    var isClosing = false

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
        return isClosing || task != nil ? 0 : EPOLLIN.rawValue
    }
}
