/// A port that accepts every connection, reads once, and closes without a response.
public final class HangUpPort: Sendable {
    public let number: UInt16
    private let listener: LoopbackSocket

    public init() throws {
        let listener = try LoopbackSocket.listening()
        self.listener = listener
        number = listener.port
        detachThread {
            while let connection = listener.accept() { _ = connection.receive() }
        }
    }

    deinit {
        listener.shutDown()
    }
}
