import Glibc

/// An HTTP/1.1 server that listens from its creation until ``stop(grace:)``. It passes requests to a handler and sends the
/// responses. It adds to libmicrohttpd: limits on time and size, responses that take long, streams, and an orderly stop.
///
///     let server = try HTTPServer(options: options, handler: routes)
///     ...
///     await server.stop(grace: .seconds(10))
///
/// A few network threads serve all connections (epoll). A response that takes long blocks none of them, because its
/// connection is suspended.
public final class HTTPServer: Sendable {
    /// The port on which the server listens; 0 without TCP. The system chooses it if the option is 0.
    public let port: UInt16
    private let supervisor: ServerSupervisor

    public init(options: Options = Options(), handler: any RequestHandler) throws(HTTPServerError) {
        try options.validate()
        let network = try options.address.map { address throws(HTTPServerError) in
            try ListeningSocket(address: address, port: options.port)
        }
        let local = try options.unixSocket.map { socket throws(HTTPServerError) in
            try UnixListeningSocket(socket)
        }
        port = network?.port ?? 0
        let context = try ServerContext(options: options, handler: handler)
        supervisor = ServerSupervisor(context)
        try supervisor.start(try Listeners(context, network: network, local: local))
    }

    /// When the last reference to the server ends, it stops without grace, in the background.
    deinit { supervisor.stop(grace: .zero) {} }

    /// Stops the server: it refuses new connections, finishes every stream, gives running exchanges at most `grace` to
    /// complete, responds with 503 to requests that still wait, and closes all connections.
    ///
    /// Returns when the last thread and socket are closed. Further calls wait for the same end.
    public func stop(grace: Duration) async {
        await withCheckedContinuation { continuation in supervisor.stop(grace: grace) { continuation.resume() } }
    }

    /// The configuration of a server. The defaults suit a service with few clients.
    public struct Options: Sendable, Hashable {
        /// An IPv4 or IPv6 literal; nil: the server does not listen on TCP. `::` also accepts IPv4 clients.
        public var address: String? = "127.0.0.1"
        public var port: UInt16 = 0
        /// A Unix domain socket to listen on, also in addition to `address`. At least one of both is needed.
        public var unixSocket: UnixSocket?
        /// The number of network threads, 1 to 64. Each serves its own share of the connections.
        public var threads: Int = Options.defaultThreads
        /// The maximum number of open connections, at least one for each thread. Beyond it, new clients wait in the
        /// queue of the kernel.
        public var connectionLimit: Int = 10_000
        /// The maximum number of open connections for each client address (IPv4 address or IPv6 /64); 0 is unlimited.
        /// Further connections are closed at once.
        public var connectionsPerAddress: Int = 0
        /// The maximum number of open WebSockets. `connectionsPerAddress` limits those of each address.
        public var webSocketLimit: Int = 10_000
        /// Whether `connectionsPerAddress` also applies to loopback addresses. Behind a reverse proxy on the same machine,
        /// every client has such an address.
        public var limitsLoopback = false
        /// The maximum time without a byte in either direction while no response is being prepared: whole seconds, at
        /// least one. It also applies to a client that stops reading its response.
        public var idleTimeout: Duration = .seconds(60)
        /// The maximum time for the head of a request. For the first request on a connection, it starts when the
        /// connection is accepted. A later request additionally has the idle time until its request line is complete.
        public var headDeadline: Duration = .seconds(10)
        /// The maximum time for the body of a request.
        public var bodyDeadline: Duration = .seconds(600)
        /// The time for a body before `bodyBytesPerSecond` applies.
        public var bodyGrace: Duration = .seconds(20)
        /// The minimum mean rate of a body, at least 1: after `bodyGrace`, a body has one second for each of so many
        /// received bytes.
        public var bodyBytesPerSecond: Int = 16 << 10
        /// The time over which `responseBytesPerSecond` is measured.
        public var responseWindow: Duration = .seconds(30)
        /// The minimum rate at which a client takes a response while bytes wait for it; 0 is unlimited. A client that is slower
        /// is disconnected. A stream without a length only needs some progress. It does not apply to Unix domain sockets.
        public var responseBytesPerSecond: Int = 1 << 10
        /// The maximum size of a body in bytes, 0 or more, unless ``RequestHandler/admit(_:)`` sets another.
        public var maxBodyBytes: Int = 1 << 20
        /// The maximum size in bytes, 0 or more, of the bodies of all connections together. The first 16 KiB of each body
        /// are not counted, so that small requests are served while a few clients send large bodies. A request whose body
        /// exceeds it gets 503.
        public var maxBytesOfBodies: Int = 256 << 20
        /// The maximum size of a request line with its header fields, 1,024 to 1,048,576 bytes. A larger head gets 431.
        /// Every open connection needs about twice this memory.
        public var maxHeadBytes: Int = 8 << 10
        /// The maximum number of header fields, at least 1. A head with more gets 431.
        public var maxFields: Int = 100
        /// The maximum time for an ``Answer/eventually(_:)``. After it, the client gets 503.
        public var waitLimit: Duration = .seconds(60)

        public init() {}

        /// One for each core, at most four. With more, the handlers and not the network limit the throughput.
        private static var defaultThreads: Int { max(1, min(4, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
    }
}

extension HTTPServer.Options {
    /// The maximum time between two requests: idle, and then until the request line is complete.
    var betweenRequests: Duration { idleTimeout + headDeadline }

    /// The time that a body has, of which so many bytes have arrived.
    func bodyTime(received: Int, hasDeadline: Bool = true) -> Duration {
        let time = bodyGrace + .milliseconds(received * 1_000 / bodyBytesPerSecond)
        return hasDeadline ? min(bodyDeadline, time) : time
    }

    /// The bytes of a response that a client must take within `responseWindow`, at least 1.
    var responseWindowBytes: Int { max(1, Int(Double(responseBytesPerSecond) * (responseWindow / .seconds(1)))) }

    func validate() throws(HTTPServerError) {
        guard 1...64 ~= threads else { throw .optionInvalid("threads must be 1 to 64, not \(threads)") }
        guard connectionLimit >= threads else {
            throw .optionInvalid("the connection limit (\(connectionLimit)) must be at least the threads (\(threads))")
        }
        guard connectionsPerAddress >= 0 else { throw .optionInvalid("connections per address must not be negative") }
        guard idleTimeout >= .seconds(1) else { throw .optionInvalid("the idle timeout must be at least a second") }
        guard address != nil || unixSocket != nil else { throw .optionInvalid("there is no address to listen on") }
        let times = [headDeadline, bodyDeadline, bodyGrace, responseWindow]
        guard times.allSatisfy({ $0 > .zero }) else { throw .optionInvalid("the deadlines must be positive") }
        guard bodyBytesPerSecond > 0 else { throw .optionInvalid("the rate of a body must be positive") }
        guard responseBytesPerSecond >= 0 else { throw .optionInvalid("the rate of a response must not be negative") }
        guard maxFields > 0 else { throw .optionInvalid("the number of header fields must be positive") }
        guard maxBodyBytes >= 0 else { throw .optionInvalid("the body bound must not be negative") }
        guard maxBytesOfBodies >= 0 else { throw .optionInvalid("the bound of all bodies must not be negative") }
        guard 1 << 10...1 << 20 ~= maxHeadBytes else {
            throw .optionInvalid("the head bound must be 1,024 to 1,048,576 bytes, not \(maxHeadBytes)")
        }
        guard waitLimit > .zero else { throw .optionInvalid("the wait limit must be positive") }
    }
}

public enum HTTPServerError: Error, Sendable, Hashable {
    case addressInvalid(String)
    case addressInUse(address: String, port: UInt16)
    case addressUnavailable(address: String)
    case pathInUse(String)
    /// The path of a Unix domain socket is empty, or has more bytes than an address can hold.
    case pathInvalid(String)
    case pathOccupied(String)
    case permissionDenied(address: String, port: UInt16)
    case optionInvalid(String)
    case systemCallFailed(String, errno: Int32)
    /// The library could not start. The most likely reason is that threads or descriptors ran out.
    case libraryFailed
}

extension HTTPServerError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .addressInvalid(let address): "'\(address)' is not an IPv4 or IPv6 address"
        case .addressInUse(let address, let port): "\(address) port \(port) is in use by another process"
        case .addressUnavailable(let address): "no interface of this machine has the address \(address)"
        case .pathInUse(let path): "another process listens on \(path)"
        case .pathInvalid(let path): "the path of a Unix domain socket must have 1 to 107 bytes: '\(path)'"
        case .pathOccupied(let path): "\(path) exists and is not a socket"
        case .permissionDenied(let address, let port): "not permitted to listen on \(address) port \(port)"
        case .optionInvalid(let reason): reason
        case .systemCallFailed(let call, let errno): "\(call): \(String(cString: strerror(errno)))"
        case .libraryFailed: "the HTTP library could not start its threads"
        }
    }
}
