import Descriptors
import Glibc
import Locks

/// The state of a server that its network threads share. The callbacks of the library find it by its address.
final class ServerContext: Sendable {
    let options: HTTPServer.Options
    let handler: any RequestHandler
    let connections = ConnectionSet()
    let lingering = LingeringSockets()
    let disconnects: DisconnectMonitor
    let bodies: BodyBudget
    let webSockets: WebSocketLoop
    /// Set when the supervisor has work before its next round.
    let wake = AutoResetEvent()

    init(options: HTTPServer.Options, handler: any RequestHandler) throws(HTTPServerError) {
        self.options = options
        self.handler = handler
        bodies = BodyBudget(bytes: options.maxBytesOfBodies)
        disconnects = try DisconnectMonitor()
        webSockets = try WebSocketLoop(limit: options.webSocketLimit, bodies: bodies)
    }

    /// The network whose number of connections is limited; nil without a limit.
    func limitedNetwork(_ address: UnsafePointer<sockaddr>?) -> ClientNetwork? {
        guard options.connectionsPerAddress > 0, let network = address.flatMap({ ClientNetwork($0) }),
            options.limitsLoopback || !network.isLoopback
        else { return nil }
        return network
    }

    /// Whether a client may connect. Its connection is counted a little later, on the same thread, so that each thread
    /// can exceed the limit by one.
    func admits(_ address: UnsafePointer<sockaddr>?) -> Bool {
        guard connections.stage == .open else { return false }
        guard let network = limitedNetwork(address) else { return true }
        return connections.count(of: network) < options.connectionsPerAddress
    }

    /// Adds a new connection. A connection that was accepted just before a stop is closed.
    func insert(_ connection: Connection) {
        if connections.insert(connection) { wake.set() }
        if connections.stage != .open { connection.abort() }
    }

    /// Removes a connection that is about to be closed. A stop waits for the last one.
    func remove(_ connection: Connection) {
        connections.remove(connection)
        if connections.stage != .open, connections.isEmpty { wake.set() }
    }

    func linger(on descriptor: Descriptor) {
        lingering.add(descriptor)
        wake.set()
    }
}
