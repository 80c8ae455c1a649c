import Base
import CMicroHTTPD
import Glibc

final class WebSocketPeers {
    private let loop: WebSocketLoop
    var peers: [Int: WebSocketPeer] = [:]
    var nextSweep = Connection.Instant.now
    var grace = PauseDetector()
    private var isStopping = false

    init(_ loop: WebSocketLoop) { self.loop = loop }

    func untilStopped() {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 256) { events in
            withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 16) { buffer in
                while !isStopping {
                    let count = Int(
                        epoll_wait(loop.epoll.number, events.baseAddress, Int32(events.count), untilNextSweep))
                    // A signal has interrupted the wait. Descriptors can be ready nevertheless.
                    guard count >= 0 else { continue }
                    for event in events.prefix(count) { take(event, buffer) }
                    sweep(at: .now)
                }
            }
        }
        closeAll()
        loop.recordEnded()
    }

    /// The time in milliseconds, rounded up; -1 if there is nothing to sweep.
    private var untilNextSweep: Int32 {
        peers.isEmpty ? -1 : Int32(clamping: Int(max(.zero, nextSweep - .now) / .milliseconds(1)) + 1)
    }

    private func take(_ event: epoll_event, _ buffer: UnsafeMutableRawBufferPointer) {
        guard event.data.u64 != 0 else { return takeCommands() }
        guard let peer = peers[Int(event.data.u64)] else { return }
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return close(peer) }
        if event.events & EPOLLOUT.rawValue != 0 { flush(peer, buffer) }
        if event.events & EPOLLIN.rawValue != 0, peers[peer.number] != nil { read(peer, buffer) }
    }

    private func takeCommands() {
        var count: eventfd_t = 0
        eventfd_read(loop.wake.number, &count)
        for command in loop.takeCommands() {
            switch command {
            case .add(let new): add(new)
            case .send(let number, let text):
                if let peer = peers[number] { send(WebSocketFrame.text(text), to: peer) }
            case .handled(let number, let reply):
                if let peer = peers[number] { handled(peer, reply) }
            case .trust(let number): peers[number]?.isTrusted = true
            case .close(let number):
                if let peer = peers[number] { beginClosing(peer, WebSocketFault.goingAway.rawValue) }
            case .stop: isStopping = true
            }
        }
    }

    private func add(_ new: NewWebSocket) {
        let peer = WebSocketPeer(new, at: .now)
        // Without a peer, nothing was swept.
        if peers.isEmpty { nextSweep = peer.openedAt }
        peers[new.number] = peer
        let flags = fcntl(peer.socket.number, F_GETFL)
        _ = fcntl(peer.socket.number, F_SETFL, flags | O_NONBLOCK)
        var event = epoll_event(events: peer.interest, data: epoll_data_t(u64: UInt64(peer.number)))
        guard epoll_ctl(loop.epoll.number, EPOLL_CTL_ADD, peer.socket.number, &event) == 0 else { return close(peer) }
        if !new.received.isEmpty { decode(new.received[...], of: peer) }
    }

    // MARK: Input

    private func read(_ peer: WebSocketPeer, _ buffer: UnsafeMutableRawBufferPointer) {
        let count = recv(peer.socket.number, buffer.baseAddress, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { close(peer) }
            return
        }
        guard !peer.isClosing else { return }
        peer.lastHeard = .now
        peer.isPinged = false
        decode([UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<count]))[...], of: peer)
    }

    private func decode(_ bytes: ArraySlice<UInt8>, of peer: WebSocketPeer) {
        var events: [WebSocketDecoder.Event] = []
        var fault: WebSocketFault?
        do throws(WebSocketFault) { try peer.decoder.take(bytes, &events) } catch { fault = error }
        for event in events where peers[peer.number] != nil && !peer.isClosing {
            switch event {
            case .text(let text): peer.inbox.append(text)
            case .ping(let payload): send(WebSocketFrame.pong(payload), to: peer)
            case .pong: break
            case .close(let code):
                peer.hasPeerClosed = true
                beginClosing(peer, code)
            }
        }
        guard peers[peer.number] != nil else { return }
        if let fault { beginClosing(peer, fault.rawValue) }
        handleNext(peer)
        if !budget(peer) { beginClosing(peer, WebSocketFault.tryAgainLater.rawValue) }
        settle(peer)
    }

    /// Counts the memory of the messages.
    ///
    /// - Returns: false if there is no room for them.
    private func budget(_ peer: WebSocketPeer) -> Bool {
        let bytes = peer.receivedBytes
        if bytes < peer.budgetedBytes {
            loop.bodies.giveBack(bodyOf: peer.budgetedBytes)
            peer.budgetedBytes = 0
        }
        guard loop.bodies.grow(from: peer.budgetedBytes, to: bytes) else { return false }
        peer.budgetedBytes = bytes
        return true
    }

    /// Passes one message at a time to the receiver. While the peer has not read an answer, no other one is made.
    private func handleNext(_ peer: WebSocketPeer) {
        guard peer.task == nil, !peer.isClosing, peer.unsent.count == 0, !peer.inbox.isEmpty else { return }
        let text = peer.inbox.removeFirst()
        if peer.inbox.isEmpty { peer.inbox = [] }
        peer.bytesInWork = text.count
        peer.task = Task { [loop, receiver = peer.receiver, number = peer.number] in
            loop.post(.handled(number, reply: await receiver.receive(text)))
        }
    }

    private func handled(_ peer: WebSocketPeer, _ reply: WebSocketReply?) {
        peer.task = nil
        peer.bytesInWork = 0
        if let reply {
            let frame = WebSocketFrame.text(reply.text)
            peer.answer = reply.memory
            peer.unsentLimit = WebSocketPeer.mostUnsent + frame.count
            send(frame, to: peer)
        }
        guard peers[peer.number] != nil else { return }
        resetIfAllIsSent(peer)
        handleNext(peer)
        _ = budget(peer)
        settle(peer)
    }

    // MARK: Output

    func send(_ frame: [UInt8], to peer: WebSocketPeer) {
        guard !peer.isClosing else { return }
        write(frame, to: peer)
    }

    private func write(_ frame: [UInt8], to peer: WebSocketPeer) {
        var rest = frame[...]
        if peer.unsent.count == 0 {
            let sent = frame.withUnsafeBytes {
                Glibc.send(peer.socket.number, $0.baseAddress, $0.count, Self.sendFlags)
            }
            guard sent >= 0 || errno == EAGAIN || errno == EINTR else { return close(peer) }
            rest = rest.dropFirst(max(0, sent))
        }
        if !rest.isEmpty { peer.unsent.append(Array(rest)) }
        guard peer.unsent.count <= peer.unsentLimit else { return close(peer) }
        settle(peer)
    }

    private func flush(_ peer: WebSocketPeer, _ buffer: UnsafeMutableRawBufferPointer) {
        while peer.unsent.count > 0 {
            let sent = peer.unsent.withFirstBytes {
                Glibc.send(peer.socket.number, $0.baseAddress, $0.count, Self.sendFlags)
            }
            guard sent >= 0 else {
                if errno != EAGAIN && errno != EINTR { close(peer) }
                return
            }
            peer.unsent.drop(sent)
        }
        peer.lastHeard = .now
        resetIfAllIsSent(peer)
        handleNext(peer)
        settle(peer)
    }

    private func resetIfAllIsSent(_ peer: WebSocketPeer) {
        guard peer.unsent.count == 0 else { return }
        peer.answer = nil
        peer.unsentLimit = WebSocketPeer.mostUnsent
    }

    /// Sends a close frame once. The peer's bytes are not read any more.
    func beginClosing(_ peer: WebSocketPeer, _ code: UInt16?) {
        guard !peer.isClosing else { return }
        send(WebSocketFrame.close(code), to: peer)
        guard peers[peer.number] != nil else { return }
        peer.isClosing = true
        peer.inbox = []
        settle(peer)
    }

    /// Closes a peer that is done, or changes what epoll reports.
    private func settle(_ peer: WebSocketPeer) {
        guard peers[peer.number] != nil else { return }
        if peer.isClosing, peer.unsent.count == 0, peer.drainsUntil == nil {
            guard !peer.hasPeerClosed else { return close(peer) }
            shutdown(peer.socket.number, Int32(SHUT_WR))
            peer.drainsUntil = Connection.Instant.now + Self.drainTime
        }
        let wanted = peer.wantedInterest
        guard wanted != peer.interest else { return }
        peer.interest = wanted
        var event = epoll_event(events: wanted, data: epoll_data_t(u64: UInt64(peer.number)))
        epoll_ctl(loop.epoll.number, EPOLL_CTL_MOD, peer.socket.number, &event)
    }

    func close(_ peer: WebSocketPeer) {
        guard peers.removeValue(forKey: peer.number) != nil else { return }
        epoll_ctl(loop.epoll.number, EPOLL_CTL_DEL, peer.socket.number, nil)
        shutdown(peer.socket.number, Int32(SHUT_WR))
        peer.task?.cancel()
        loop.bodies.giveBack(bodyOf: peer.budgetedBytes)
        peer.receiver.closed()
        loop.recordClosed(peer.network)
    }

    private func closeAll() {
        for peer in Array(peers.values) {
            beginClosing(peer, WebSocketFault.goingAway.rawValue)
            close(peer)
        }
    }

    static let sweepMilliseconds: Int32 = 2_000
    private static let drainTime = Duration.seconds(2)
    private static let pieceSize = 16 << 10
    private static let sendFlags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
}

extension WebSocketPeers {
    /// Pings silent peers, and closes those that do not answer or were never trusted. After a late sweep it closes none
    /// for a while.
    func sweep(at now: Connection.Instant) {
        guard nextSweep <= now else { return }
        grace.beganTurn(at: now, planned: nextSweep)
        let mayClose = grace.end(at: now) == nil
        nextSweep = now + .milliseconds(Int(Self.sweepMilliseconds))
        for peer in Array(peers.values) {
            // While a message is answered, nothing is read.
            let silence = peer.task == nil ? now - peer.lastHeard : .zero
            if let end = peer.drainsUntil {
                if end <= now, mayClose { close(peer) }
            } else if silence > Self.longestSilence, mayClose {
                close(peer)
            } else if !peer.isTrusted, mayClose, now - peer.openedAt > Self.timeOfStrangers {
                beginClosing(peer, WebSocketFault.policyViolation.rawValue)
            } else if silence > Self.pingInterval, !peer.isPinged {
                peer.isPinged = true
                send(WebSocketFrame.ping, to: peer)
            }
        }
    }

    private static let pingInterval = Duration.seconds(45)
    private static let longestSilence = Duration.seconds(120)
    private static let timeOfStrangers = Duration.seconds(60)
}

/// One open WebSocket, confined to the thread of the loop.
final class WebSocketPeer {
    let number: Int
    let socket: Descriptor
    let network: ClientNetwork?
    let receiver: WebSocketReceiver
    var decoder: WebSocketDecoder
    /// The bytes that the kernel has not taken yet.
    var unsent = ByteQueue()
    var answer: ResponseShare?
    var unsentLimit = WebSocketPeer.mostUnsent
    /// Messages that wait until the receiver has returned, and until the peer has read the answer before.
    var inbox: [[UInt8]] = []
    var task: Task<Void, Never>?
    var bytesInWork = 0
    /// The bytes for which this socket has taken memory from the budget of bodies.
    var budgetedBytes = 0
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
        number = new.number
        socket = new.socket
        network = new.network
        receiver = new.receiver
        decoder = WebSocketDecoder(limit: Self.largestMessage)
        lastHeard = now
        openedAt = now
    }

    /// The limit in bytes. It is that of the body of a request at `/jsonrpc`.
    static let largestMessage = 2 << 20
    /// A peer that leaves more bytes unread than these and one answer is disconnected.
    static let mostUnsent = 64 << 10

    var receivedBytes: Int { inbox.reduce(decoder.heldBytes + bytesInWork) { $0 + $1.count } }

    /// While the receiver works, or bytes are unsent, nothing more is read.
    var wantedInterest: UInt32 {
        if unsent.count > 0 { return EPOLLOUT.rawValue }
        if drainsUntil != nil { return EPOLLIN.rawValue }
        return isClosing || task != nil ? 0 : EPOLLIN.rawValue
    }
}
