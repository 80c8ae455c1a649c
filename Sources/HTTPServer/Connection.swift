import Base
import CMicroHTTPD
import Glibc

// The state of a connection: its phase, since when, and the means to close it.
//
// The library has no time limit for a complete request, so a client that sends a byte from time to time would never be
// closed. So each connection records its phase, and a periodic sweep compares it with the time. The sweep must not
// touch the socket of a closed connection, because its number may already belong to another file. One lock protects
// both the shutdown of the socket and the record of its end, which is written before the library closes the socket.

/// A connection, from its acceptance until just before its socket is closed.
final class Connection: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The phase of a connection, with the data that the sweep and the stop need.
    enum Phase {
        /// No request line has arrived on a new connection, or since the last request.
        case idle(since: Instant, isFresh: Bool)
        /// A request is being received. Its head, or what has arrived of its body, sets the time.
        case receiving(until: Instant)
        /// The sink of the body has no room.
        case paused(BodyPause, until: Instant)
        case answering
        case waiting(DeferredResponse, until: Instant)
        case streaming(ResponseStream)
        case sending(FileRegion)
    }

    private struct State {
        /// nil from just before the library closes it.
        var socket: Int32?
        var phase: Phase
        /// The client may still send a body that is not read.
        var lingers = false
        /// Set while `DisconnectMonitor` watches the socket.
        var watch: UInt64?
        var reader = SlowReaderDetector()

        func shutDown() { if let socket { _ = shutdown(socket, Int32(SHUT_RDWR)) } }

        /// Closes a connection whose client is late. Unread bytes at the deadline mean that the server is late: its
        /// threads were busy, or the machine was suspended. The request gets `serverTime` in addition then. This time is
        /// bounded, because a client that floods the server also has unread bytes.
        func checkRequest(until end: Instant, serverTime: Duration, _ now: Instant) {
            guard let socket else { return }
            var byte: UInt8 = 0
            switch recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) {
            case 0: end <= now ? shutDown() : repeatEndOfInput(socket)
            case 1...: if end + serverTime <= now { shutDown() }
            default: if end <= now { shutDown() }
            }
        }

        /// - Parameter isOpen: whether the response has no length.
        mutating func checkResponse(isOpen: Bool, _ limits: HTTPServer.Options, _ now: Instant) {
            guard limits.responseBytesPerSecond > 0, let socket, reader.isDue(at: now) else { return }
            let isStalled = reader.isStalled(
                SendQueue(of: socket), at: now, over: limits.responseWindow,
                atLeast: isOpen ? 1 : limits.responseWindowBytes)
            if isStalled { shutDown() }
        }

        /// epoll reports an event only once, and the library misses an end of stream that arrives together with bytes.
        /// It would then wait until a time limit. Another shutdown of the reading side makes the kernel report the end
        /// again, and does not disturb a response in progress.
        func repeatEndOfInput(_ socket: Int32) { _ = shutdown(socket, Int32(SHUT_RD)) }
    }

    let remoteAddress: String
    /// nil if the number of connections of this client is not limited.
    let network: ClientNetwork?
    private let state: Locked<State>

    init(socket: Int32, remoteAddress: String, network: ClientNetwork?) {
        self.remoteAddress = remoteAddress
        self.network = network
        state = Locked(State(socket: socket, phase: .idle(since: .now, isFresh: true)))
    }

    func enter(_ phase: Phase) {
        state.withLock { state in
            state.phase = phase
            state.reader = SlowReaderDetector()
        }
    }

    func enterHead(limit: Duration) {
        state.withLock { state in
            let start = if case .idle(let since, isFresh: true) = state.phase { since } else { Instant.now }
            state.phase = .receiving(until: start + limit)
        }
    }

    /// The next response is sent while the client may still send a body.
    func lingerWhenClosed() { state.withLock { $0.lingers = true } }

    /// Records that the descriptor no longer belongs to this connection. Returns a duplicate if the socket must stay
    /// open longer.
    func close() -> Descriptor? {
        state.withLock { state in
            defer { state.socket = nil }
            guard state.lingers, let socket = state.socket else { return nil }
            return Descriptor(duplicating: socket)
        }
    }

    /// Starts to watch for a disconnect of a client that waits for a response or reads a stream. Must be called on the
    /// thread of the connection.
    func beginWatching(_ watch: DisconnectMonitor) {
        state.withLock { state in
            guard state.watch == nil, let socket = state.socket else { return }
            state.watch = watch.add(self, socket: socket)
        }
    }

    func endWatching(_ watch: DisconnectMonitor) {
        state.withLock { state in
            guard let number = state.watch.take(), let socket = state.socket else { return }
            watch.remove(number, socket: socket)
        }
    }

    /// The client has disconnected: cancels the work for its response.
    func clientDisconnected() {
        switch state.withLock({ $0.phase }) {
        case .waiting(let answer, _): answer.clientDisconnected()
        case .streaming(let stream): stream.close(.clientGone)
        case .idle, .receiving, .paused, .answering, .sending: break
        }
    }

    /// Limits the unsent bytes in the kernel, so that stream data stays recent and a slow reader is seen to read.
    /// Otherwise the kernel would buffer megabytes, and report room only after a third of them is read.
    func keepLittleUnsent() {
        state.withLock { state in
            guard let socket = state.socket else { return }
            var bytes: Int32 = 64 << 10
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Shuts down the socket. The library sees a hang-up in any state and cleans up.
    func abort() { state.withLock { $0.shutDown() } }

    /// Enforces the time limits. A request that takes too long is closed at once; a response that takes too long is returned.
    func expire(at now: Instant, limits: HTTPServer.Options) -> DeferredResponse? {
        state.withLock { state in
            switch state.phase {
            case .idle(let since, let isFresh):
                let limit = isFresh ? limits.headDeadline : limits.betweenRequests
                state.checkRequest(until: since + limit, serverTime: limits.idleTimeout, now)
            case .receiving(let until): state.checkRequest(until: until, serverTime: limits.idleTimeout, now)
            case .paused(let pause, let until):
                if until <= now {
                    state.shutDown()
                    pause.end()
                }
            case .waiting(let answer, let until):
                if until <= now { return answer }
            case .sending(let region):
                if region.isComplete { state.checkResponse(isOpen: false, limits, now) } else { state.shutDown() }
            case .answering: state.checkResponse(isOpen: false, limits, now)
            case .streaming(let stream): state.checkResponse(isOpen: stream.length == nil, limits, now)
            }
            return nil
        }
    }

    /// Returns the phase, and closes the connection if it is idle.
    func phaseForStopping() -> Phase {
        state.withLock { state in
            if case .idle = state.phase { state.shutDown() }
            return state.phase
        }
    }
}

/// Judges whether a client takes its response, from the send queue of the socket at intervals.
///
/// The time limit of the library begins again with every byte that the client takes, so a client could hold a response for days.
struct SlowReaderDetector {
    typealias Instant = ContinuousClock.Instant

    /// When bytes were first seen to wait, or had last advanced enough.
    private var mark: (taken: UInt64, at: Instant)?
    private var nextLook: Instant?

    /// Whether it is time to look at the queue. A look is a system call.
    func isDue(at now: Instant) -> Bool { nextLook.map { $0 <= now } ?? true }

    /// - Parameters:
    ///   - queue: nil if the socket has no such numbers.
    ///   - bytes: the number of bytes that the client must take within the window, at least 1.
    /// - Returns: whether bytes have waited for all of the window, and the client has taken fewer than `bytes`.
    mutating func isStalled(_ queue: SendQueue?, at now: Instant, over window: Duration, atLeast bytes: Int) -> Bool {
        nextLook = now + window / 8
        guard let queue, queue.isWaiting else {
            mark = nil
            return false
        }
        guard let mark else {
            self.mark = (queue.taken, now)
            return false
        }
        guard mark.at + window <= now else { return false }
        self.mark = (queue.taken, now)
        return queue.taken &- mark.taken < UInt64(bytes)
    }
}

/// The bytes that were given to a TCP socket.
struct SendQueue: Equatable {
    /// The number of bytes that the client has acknowledged since the connection began.
    var taken: UInt64
    /// Whether further bytes were not acknowledged yet.
    var isWaiting: Bool
}

extension SendQueue {
    /// nil if the socket is not a TCP socket.
    init?(of socket: Int32) {
        var numbers = [UInt64](repeating: 0, count: Self.size / 8)
        var length = socklen_t(Self.size)
        let result = getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &numbers, &length)
        guard result == 0, length >= socklen_t(Self.size) else { return nil }
        self = numbers.withUnsafeBytes { bytes in
            let unacknowledged = bytes.load(fromByteOffset: Self.unacknowledged, as: UInt32.self)
            let unsent = bytes.load(fromByteOffset: Self.unsent, as: UInt32.self)
            return SendQueue(
                taken: bytes.load(fromByteOffset: Self.acknowledged, as: UInt64.self),
                isWaiting: unacknowledged > 0 || unsent > 0)
        }
    }

    // The layout of `struct tcp_info` in linux/tcp.h. The struct of the C library ends before the last two members.

    private static let unacknowledged = 24
    private static let acknowledged = 120
    private static let unsent = 144
    private static let size = 152
}

/// A suspended connection. It resumes when this value ends.
///
/// In the library, resuming a connection that is not suspended is undefined behaviour, and stopping while one is
/// suspended aborts the process. Because this value can be neither copied nor lost, neither can happen.
struct SuspendedConnection: ~Copyable, @unchecked Sendable {
    private let connection: OpaquePointer

    /// Suspends a connection. Must be called within a callback of the same connection.
    init(of connection: OpaquePointer) {
        self.connection = connection
        MHD_suspend_connection(connection)
    }

    deinit { MHD_resume_connection(connection) }

    /// Resumes the connection. Any thread may call it: the library neither touches nor frees a suspended connection.
    consuming func resume() {}
}
