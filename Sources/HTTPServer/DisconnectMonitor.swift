import Base
import CMicroHTTPD
import Glibc

/// Detects clients that disconnect while their connection is suspended. The library does not watch suspended
/// connections, so it would keep the work for a client that has gone. One thread watches them with epoll.
///
/// Each connection is added and removed on its own network thread. The same thread closes its socket, so the monitor
/// never watches a descriptor that belongs to another file.
final class DisconnectMonitor: Sendable {
    private struct State {
        var lastNumber: UInt64 = 0
        var connections: [UInt64: Connection] = [:]
    }

    private let epoll: Descriptor
    private let stopEvent: Descriptor
    private let state = Locked(State())

    init() throws(HTTPServerError) {
        guard let epoll = Descriptor(result: epoll_create1(Int32(EPOLL_CLOEXEC))) else {
            throw .systemCallFailed("epoll_create1", errno: errno)
        }
        guard let stopEvent = Descriptor(result: eventfd(0, Int32(EFD_CLOEXEC))) else {
            throw .systemCallFailed("eventfd", errno: errno)
        }
        self.epoll = epoll
        self.stopEvent = stopEvent
        watch(stopEvent.number, for: EPOLLIN.rawValue, number: 0)
    }

    func start() throws(HTTPServerError) {
        let failure = DetachedThread.start(named: "http.disconnect") { self.untilStopped() }
        guard failure == 0 else { throw .systemCallFailed("pthread_create", errno: failure) }
    }

    func stop() { eventfd_write(stopEvent.number, 1) }

    /// Calls `clientDisconnected` of the connection when its client disconnects, also if it has already done so.
    ///
    /// - Returns: the number to remove it by.
    func add(_ connection: Connection, socket: Int32) -> UInt64 {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.connections[state.lastNumber] = connection
            return state.lastNumber
        }
        // A client that has closed its sending side counts as disconnected, because browsers and most tools never half-close.
        watch(socket, for: EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue, number: number)
        return number
    }

    func remove(_ number: UInt64, socket: Int32) {
        epoll_ctl(epoll.number, EPOLL_CTL_DEL, socket, nil)
        state.withLock { $0.connections[number] = nil }
    }

    private func watch(_ descriptor: Int32, for events: UInt32, number: UInt64) {
        var event = epoll_event(events: events, data: epoll_data_t(u64: number))
        epoll_ctl(epoll.number, EPOLL_CTL_ADD, descriptor, &event)
    }

    private func untilStopped() {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 256) { events in
            while true {
                let count = Int(epoll_wait(epoll.number, events.baseAddress, Int32(events.count), -1))
                for event in events.prefix(max(0, count)) {
                    if event.data.u64 == 0 { return }
                    state.withLock { $0.connections[event.data.u64] }?.clientDisconnected()
                }
            }
        }
    }
}
