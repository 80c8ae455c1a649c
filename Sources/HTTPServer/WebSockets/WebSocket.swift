/// An open WebSocket. Any thread may use it; after the socket has closed, nothing happens.
public struct WebSocket: Sendable, Hashable {
    let number: Int
    let loop: WebSocketLoop

    /// Sends a text message. A peer that does not read is disconnected.
    public func send(_ text: [UInt8]) { loop.post(.send(number, text)) }

    /// Lets the socket stay open. Until then it is closed after a minute, so that strangers cannot hold sockets.
    public func trust() { loop.post(.trust(number)) }

    /// Closes the socket, with the code for a service that cannot serve it now.
    public func close() { loop.post(.close(number)) }

    public static func == (one: WebSocket, other: WebSocket) -> Bool {
        one.number == other.number && one.loop === other.loop
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
