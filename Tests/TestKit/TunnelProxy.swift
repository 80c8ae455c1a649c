/// A proxy on loopback that makes tunnels: for `CONNECT` and for SOCKS version 5, told apart by the first byte.
///
/// Every host is on 127.0.0.1 for it, so that it resolves names which nobody else does. Plain requests to an HTTP proxy
/// need no double of their own: an `Origin` serves them.
public final class TunnelProxy: Sendable {
    /// A tunnel that was asked for, whether it was made or not.
    public struct Tunnel: Sendable, Equatable {
        /// As asked for: `host:port`.
        public let target: String
        /// For SOCKS as `name:password`, for `CONNECT` the field's value; nil when none were sent.
        public let credentials: String?
        /// The fields of a `CONNECT`.
        public let fields: [String]
    }

    public enum Refusal: Sendable {
        /// For `CONNECT`.
        case status(Int)
        /// For SOCKS: RFC 1928, 6.
        case reply(UInt8)
        case hangingUp
    }

    public let port: UInt16
    private let listener: LoopbackSocket
    private let log: Monitor<[Tunnel]>

    /// - Parameter credentials: `name:password`, which every client has to give.
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

    /// In the order asked.
    public var tunnels: [Tunnel] { log.current }
}
