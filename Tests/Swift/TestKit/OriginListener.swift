/// The origin's sockets: a thread that accepts, and one for each connection.
final class OriginListener: Sendable {
    private struct State: Sendable {
        var connections: [Int: LoopbackSocket] = [:]
        var accepted = 0
        var isStopped = false
    }

    let port: UInt16
    private let socket: LoopbackSocket
    private let site: OriginSite
    private let state = Monitor(State())

    var connectionCount: Int { state.current.accepted }

    init(site: OriginSite, at address: Loopback, port: UInt16?) throws {
        self.site = site
        socket = try .listening(at: address, on: port)
        self.port = socket.port
        detachThread(acceptAll)
    }

    func stop() {
        let connections = state.withLock { state in
            state.isStopped = true
            return Array(state.connections.values)
        }
        socket.shutDown()
        for connection in connections { connection.shutDown() }
    }

    private func acceptAll() {
        while let connection = socket.accept() {
            guard let number = register(connection) else { return }
            detachThread {
                OriginConnection(socket: connection, number: number, site: self.site).serve()
                self.state.withLock { $0.connections[number] = nil }
            }
        }
    }

    private func register(_ connection: LoopbackSocket) -> Int? {
        state.withLock { state in
            guard !state.isStopped else { return nil }
            state.accepted += 1
            state.connections[state.accepted] = connection
            return state.accepted
        }
    }
}
