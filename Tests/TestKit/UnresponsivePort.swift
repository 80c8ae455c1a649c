import Glibc

/// A port where connections are neither accepted nor refused: the listener's queue is full, so that the kernel drops
/// what asks for more. The way to test a connect that hangs, without leaving loopback.
public final class UnresponsivePort: Sendable {
    public let number: UInt16
    private let listener: LoopbackSocket
    private let queued: [LoopbackSocket]

    public init() throws {
        let listener = try LoopbackSocket.listening(backlog: 0)
        self.listener = listener
        number = listener.port
        // One more than the queue holds; these are never answered either.
        queued = try (0..<4).map { _ in try LoopbackSocket.connecting(to: listener.port) }
    }
}
