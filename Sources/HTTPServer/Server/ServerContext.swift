// What the library's callbacks need to find their way: one object for the life of a server, known to C by its address.

import Descriptors
import Locks

/// The parts of a server that its network threads share.
final class ServerContext: Sendable {
    let options: HTTPServer.Options
    let handler: any RequestHandler
    let connections = ConnectionSet()
    let lingering = LingeringSockets()
    let disconnects: DisconnectMonitor
    /// Set when the supervisor has something to look at before its next round.
    let wake = AutoResetEvent()

    init(options: HTTPServer.Options, handler: any RequestHandler) throws(HTTPServerError) {
        self.options = options
        self.handler = handler
        disconnects = try DisconnectMonitor()
    }

    /// Takes up a new connection; one that was accepted at the last moment before a stop is cut off again.
    func insert(_ connection: Connection) {
        connections.insert(connection)
        if connections.stage != .open { connection.abort() }
    }

    /// Forgets a connection that is about to be closed; a stop waits for the last one.
    func remove(_ connection: Connection) {
        connections.remove(connection)
        if connections.stage != .open, connections.isEmpty { wake.set() }
    }

    func linger(on descriptor: Descriptor) {
        lingering.add(descriptor)
        wake.set()
    }
}
