/// A proxy on loopback that opens tunnels, for `CONNECT` and for SOCKS version 5, which differ in the first byte.
///
/// It connects every host name to 127.0.0.1, so it resolves names that no resolver knows. Plain requests to an HTTP
/// proxy need no other double: an `Origin` serves them.
public final class TunnelProxy: Sendable {
    /// A requested tunnel, whether it was opened or not.
    public struct Tunnel: Sendable, Equatable {
        /// As requested: `host:port`.
        public let target: String
        /// For SOCKS `name:password`, for `CONNECT` the field's value; nil if none were sent.
        public let credentials: String?
        /// The fields of a `CONNECT`.
        public let fields: [String]
    }

    public enum Refusal: Sendable {
        /// For `CONNECT`.
        case status(Int)
        /// For SOCKS: RFC 1928, section 6.
        case reply(UInt8)
        case hangingUp
    }

    public let port: UInt16
    private let listener: LoopbackSocket
    private let log: Monitor<[Tunnel]>

    /// - Parameter credentials: `name:password`, which every client has to send.
    public init(demanding credentials: String? = nil, refusing refusal: Refusal? = nil) throws {
        let (listener, log) = (try LoopbackSocket.listening(), Monitor<[Tunnel]>([]))
        self.listener = listener
        self.log = log
        port = listener.port
        detachThread {
            while let client = listener.accept() {
                let connection = TunnelProxyConnection(
                    client: client, credentials: credentials, refusal: refusal,
                    note: { tunnel in log.withLock { $0.append(tunnel) } })
                detachThread { connection.serve() }
            }
        }
    }

    deinit {
        listener.shutDown()
    }

    /// In the order of the requests.
    public var tunnels: [Tunnel] { log.current }
}
