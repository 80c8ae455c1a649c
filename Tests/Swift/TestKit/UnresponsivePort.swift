import Glibc

/// A port where connections are neither accepted nor refused: the listener's queue is full, so the kernel drops further
/// connection requests. It tests a connect that hangs, without leaving loopback.
public final class UnresponsivePort: Sendable {
    public let number: UInt16
    private let listener: LoopbackSocket
    private let queued: [LoopbackSocket]

    public init() throws {
        let listener = try LoopbackSocket.listening(backlog: 0)
        self.listener = listener
        number = listener.port
        // One connection more than the queue holds; these never get a response.
        queued = try (0..<4).map { _ in try LoopbackSocket.connecting(to: listener.port) }
    }
}
