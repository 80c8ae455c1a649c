/// A client that asks, and then neither reads nor says anything more: one of thousands that wait.
public final class SilentClient: Sendable {
    private let socket: LoopbackSocket

    /// - Parameter request: exactly the bytes that are sent.
    public init(_ port: UInt16, _ request: String) throws {
        socket = try LoopbackSocket.connected(to: port)
        guard socket.send(ArraySlice(Array(request.utf8))) else { throw Overdue("The silent client could not ask.") }
    }

    deinit { close() }

    /// Hangs up.
    public func close() { socket.shutDown() }
}
