// One client's connection as the server sees it: what it is doing, since when, and how to cut it off.
//
// The library has no clock for a whole request: a client that sends a byte now and then lives for ever. So each
// connection notes its phase, and a sweep compares the notes with the time. It must not touch the socket of a
// connection that has just been closed, as its number may already be somebody else's: the lock under which a socket is
// shut down is the one under which its end is noted, before the library closes it.

import Descriptors
import Glibc
import Locks

/// A connection from its acceptance until just before its socket is closed.
final class Connection: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// What the connection is doing, with what the clock or a stop needs to know about it.
    enum Phase {
        /// No request line yet, for the first time or again.
        case idle(since: Instant, isFresh: Bool)
        /// A request is arriving.
        case receiving(since: Instant)
        /// The handler or the kernel has the turn.
        case answering
        case waiting(PendingResponse, until: Instant)
        case streaming(ResponseStream)
        case sending(FileRegion)
    }

    private struct State {
        /// Nil once the library is about to close it.
        var socket: Int32?
        var phase: Phase
        /// The client may still be sending a body that nobody will read.
        var lingers = false
        /// While somebody looks whether the client is still there.
        var watch: UInt64?

        func shutDown() {
            if let socket { _ = shutdown(socket, Int32(SHUT_RDWR)) }
        }

        func checkRequest(since: Instant, limit: Duration, _ now: Instant) {
            if since + limit <= now { shutDown() } else { repeatEndOfInput() }
        }

        /// The library is told of news only once, and misses an end that arrives together with bytes: it would wait for
        /// more until a time limit. Shutting the reading side down once more makes the kernel repeat the news, and does
        /// not get in the way of an answer that is just being made.
        func repeatEndOfInput() {
            guard let socket else { return }
            var byte: UInt8 = 0
            if recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0 { _ = shutdown(socket, Int32(SHUT_RD)) }
        }
    }

    let remoteAddress: String
    private let state: Locked<State>

    init(socket: Int32, remoteAddress: String) {
        self.remoteAddress = remoteAddress
        state = Locked(State(socket: socket, phase: .idle(since: .now, isFresh: true)))
    }

    func enter(_ phase: Phase) {
        state.withLock { $0.phase = phase }
    }

    /// The answer that comes next is sent while the client may still be sending.
    func lingerWhenClosed() {
        state.withLock { $0.lingers = true }
    }

    /// Notes that the descriptor is no longer this connection's. Returns a duplicate when the socket is to outlive it.
    func close() -> Descriptor? {
        state.withLock { state in
            defer { state.socket = nil }
            guard state.lingers, let socket = state.socket else { return nil }
            return Descriptor(duplicating: socket)
        }
    }

    /// Whoever waits or is streamed to is missed when he goes. Called on the connection's own thread.
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

    /// The client has gone: nobody needs what it waited for.
    func clientDisconnected() {
        switch state.withLock({ $0.phase }) {
        case .waiting(let answer, _): answer.cancelWork()
        case .streaming(let stream): stream.close(.clientGone)
        case .idle, .receiving, .answering, .sending: break
        }
    }

    /// What a stream sends is to be fresh, and a slow reader to be seen reading: the kernel would take megabytes for him,
    /// and then say nothing until he has read a third of them.
    func keepLittleUnsent() {
        state.withLock { state in
            guard let socket = state.socket else { return }
            var bytes: Int32 = 64 << 10
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Cuts the connection off. The library sees a hang-up, in whatever state it is, and cleans up by itself.
    func abort() {
        state.withLock { $0.shutDown() }
    }

    /// Whatever is due at a moment: an overlong request is cut off at once, an overdue answer is returned.
    func expire(at now: Instant, limits: HTTPServer.Options) -> PendingResponse? {
        state.withLock { state in
            switch state.phase {
            case .idle(let since, let isFresh):
                state.checkRequest(since: since, limit: isFresh ? limits.requestDeadline : limits.betweenRequests, now)
            case .receiving(let since):
                state.checkRequest(since: since, limit: limits.requestDeadline, now)
            case .waiting(let answer, let until):
                if until <= now { return answer }
            case .sending(let region):
                if !region.isComplete { state.shutDown() }
            case .answering, .streaming: break
            }
            return nil
        }
    }

    /// The phase, for a stop that goes from connection to connection; cut off at once when it is idle.
    func phaseForStopping() -> Phase {
        state.withLock { state in
            if case .idle = state.phase { state.shutDown() }
            return state.phase
        }
    }
}
