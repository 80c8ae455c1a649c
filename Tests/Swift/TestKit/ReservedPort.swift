/// A port of 127.0.0.1 for a program that takes its port as an option. The test keeps the port while the program does not run,
/// so no other program gets it.
public final class ReservedPort: Sendable {
    private let socket: LoopbackSocket

    public init() throws { socket = try .bound() }

    public var port: UInt16 { socket.port }
    /// Such as `127.0.0.1:8080`.
    public var address: String { "127.0.0.1:\(port)" }
}
