import CMicroHTTPD
import Descriptors
import HTTPTypes

/// The change from HTTP to a WebSocket.
extension Exchange {
    func accept(_ upgrade: WebSocketUpgrade, _ handle: OpaquePointer) -> MHD_Result {
        guard server.connections.stage == .open else { return refuse(.stopping, handle) }
        let limit = server.options.connectionsPerAddress
        guard server.webSockets.hasRoom(for: connection.network, perNetwork: limit) else {
            return refuse(.tooManyWebSockets, handle)
        }
        guard let reply = MHDResponse(upgrade.handshake) else { return .NO }
        step = .upgrading(upgrade)
        connection.enter(.answering)
        return reply.queue(.switchingProtocols, on: handle)
    }

    /// - Parameter received: bytes that have arrived behind the handshake.
    func handOver(_ socket: Int32, received: [UInt8]) {
        guard case .upgrading(let upgrade) = step, let duplicate = Descriptor(duplicating: socket) else { return }
        step = .answered
        server.webSockets.add(duplicate, received: received, network: connection.network, upgrade)
    }
}
