import Base
import CMicroHTTPD
import Glibc

/// Serves all WebSockets on one thread, with epoll. The library hands over the socket of an accepted handshake, so an idle
/// WebSocket holds no connection of the library, and costs a few hundred bytes here.
final class WebSocketLoop: Sendable {
    enum Command: Sendable {
        case add(NewWebSocket)
        case send(Int, [UInt8])
        case handled(Int, reply: WebSocketReply?)
        case trust(Int)
        case close(Int)
        case stop
    }

    private struct State {
        var commands: [Command] = []
        var lastNumber = 0
        /// Open sockets, and those that the thread has not added yet.
        var count = 0
        var countsByNetwork: [ClientNetwork: Int] = [:]
        var stage = Stage.idle
    }

    private enum Stage {
        /// There was no WebSocket yet, and there is no thread.
        case idle
        case running
        case stopped
    }

    private let limit: Int
    /// The memory for the messages of all sockets, and for the bodies of requests.
    let bodies: BodyBudget
    let epoll: Descriptor
    let wake: Descriptor
    private let state = Locked(State())
    private let ended = AutoResetEvent()

    init(limit: Int, bodies: BodyBudget) throws(HTTPServerError) {
        self.limit = limit
        self.bodies = bodies
        guard let epoll = Descriptor(result: epoll_create1(Int32(EPOLL_CLOEXEC))) else {
            throw .systemCallFailed("epoll_create1", errno: errno)
        }
        guard let wake = Descriptor(result: eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))) else {
            throw .systemCallFailed("eventfd", errno: errno)
        }
        self.epoll = epoll
        self.wake = wake
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: 0))
        epoll_ctl(epoll.number, EPOLL_CTL_ADD, wake.number, &event)
    }

    func hasRoom(for network: ClientNetwork?, perNetwork: Int) -> Bool {
        state.withLock { state in
            guard state.stage != .stopped, state.count < limit else { return false }
            return network.map { state.countsByNetwork[$0, default: 0] < perNetwork } ?? true
        }
    }

    /// Takes over a socket on which a handshake has succeeded. The first one starts the thread.
    ///
    /// - Parameter received: bytes that have arrived behind the handshake.
    func add(_ socket: Descriptor, received: [UInt8], network: ClientNetwork?, _ upgrade: WebSocketUpgrade) {
        let number: Int? = state.withLock { state in
            guard state.stage != .stopped, start(&state) else { return nil }
            state.lastNumber += 1
            state.count += 1
            if let network { state.countsByNetwork[network, default: 0] += 1 }
            return state.lastNumber
        }
        guard let number else { return }
        let receiver = upgrade.open(WebSocket(number: number, loop: self))
        post(
            .add(
                NewWebSocket(
                    number: number, socket: socket, received: received, network: network, receiver: receiver)))
    }

    private func start(_ state: inout State) -> Bool {
        guard state.stage == .idle else { return true }
        guard DetachedThread.start(named: "http.websocket", { WebSocketPeers(self).untilStopped() }) == 0 else {
            return false
        }
        state.stage = .running
        return true
    }

    func post(_ command: Command) {
        let isFirst = state.withLock { state in
            state.commands.append(command)
            return state.commands.count == 1
        }
        if isFirst { eventfd_write(wake.number, 1) }
    }

    func takeCommands() -> [Command] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    func recordClosed(_ network: ClientNetwork?) {
        state.withLock { state in
            state.count -= 1
            guard let network, let count = state.countsByNetwork[network] else { return }
            state.countsByNetwork[network] = count > 1 ? count - 1 : nil
        }
    }

    func recordEnded() { ended.set() }

    /// Closes all sockets with the code for a service that stops, and ends the thread.
    ///
    /// Blocks until the thread has ended. Only the supervisor of the server calls it.
    func stop() {
        let wasRunning = state.withLock { state in
            defer { state.stage = .stopped }
            return state.stage == .running
        }
        guard wasRunning else { return }
        post(.stop)
        ended.wait(atMost: Self.stopTime)
    }

    /// The time for the peers to read the last frame.
    private static let stopTime = Duration.seconds(2)
}

struct NewWebSocket: Sendable {
    let number: Int
    let socket: Descriptor
    let received: [UInt8]
    let network: ClientNetwork?
    let receiver: WebSocketReceiver
}
