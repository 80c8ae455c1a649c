/// A request whose end is sent when the test wants it.
public final class HeldRequest: Sendable {
    private let socket: LoopbackSocket

    /// - Parameter head: complete, with the mandatory fields.
    public init(to port: UInt16, head: [String]) throws {
        socket = try LoopbackSocket.connected(to: port)
        let lines = head + ["Host: 127.0.0.1", "Connection: close"]
        try send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
    }

    deinit { socket.shutDown() }

    /// Sends the body as it is, and returns the response with its head.
    public func finish(_ body: String) async throws -> String {
        try await OwnThread.run {
            try send(body)
            var response: [UInt8] = []
            while true {
                let bytes = socket.receive()
                guard !bytes.isEmpty else { return String(decoding: response, as: UTF8.self) }
                response += bytes
            }
        }
    }

    private func send(_ text: String) throws {
        guard socket.send(ArraySlice(Array(text.utf8))) else { throw Overdue("The request could not be sent.") }
    }
}
