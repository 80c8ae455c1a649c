/// A client that sends a request and then neither reads nor sends anything: one of thousands that wait.
public final class SilentClient: Sendable {
    private let socket: LoopbackSocket

    /// - Parameter request: the exact bytes to send.
    public init(_ port: UInt16, _ request: String) throws {
        socket = try LoopbackSocket.connected(to: port)
        guard socket.send(ArraySlice(Array(request.utf8))) else { throw Overdue("The silent client could not ask.") }
    }

    deinit { close() }

    /// Closes the connection.
    public func close() { socket.shutDown() }
}
