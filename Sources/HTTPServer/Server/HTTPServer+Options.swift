import Glibc

extension HTTPServer {
    /// The configuration of a server. The defaults suit a service with few clients.
    public struct Options: Sendable, Hashable {
        /// An IPv4 or IPv6 literal. `::` also accepts IPv4 clients.
        public var address: String = "127.0.0.1"
        /// 0 lets the system choose; see ``HTTPServer/port``.
        public var port: UInt16 = 0
        /// The number of network threads, 1 to 64. Each serves its own share of the connections.
        public var threads: Int = Options.defaultThreads
        /// The maximum number of open connections, at least one for each thread. Beyond it, new clients wait in the
        /// queue of the kernel.
        public var connectionLimit: Int = 10_000
        /// The maximum number of open connections for each client address; 0 is unlimited. Further connections are
        /// closed at once.
        public var connectionsPerAddress: Int = 0
        /// The maximum time without a byte in either direction while no response is being prepared: whole seconds, at
        /// least one. It also applies to a client that stops reading its response.
        public var idleTimeout: Duration = .seconds(60)
        /// The maximum time from the first to the last byte of a request. For the first request on a connection, it
        /// starts when the connection is accepted. A later request additionally has the idle time until its request
        /// line is complete.
        public var requestDeadline: Duration = .seconds(30)
        /// The maximum size of a body in bytes, 0 or more, unless ``RequestHandler/admit(_:)`` sets another.
        public var maxBodyBytes: Int = 1 << 20
        /// The maximum size in bytes, 0 or more, of the bodies of all connections together. The first 16 KiB of each body
        /// are not counted, so that small requests are served while a few clients send large bodies. A request whose body
        /// exceeds it gets 503.
        public var maxBytesOfBodies: Int = 256 << 20
        /// The maximum size of a request line with its header fields, 1,024 to 1,048,576 bytes. A larger head gets 431.
        /// Every open connection needs about twice this memory.
        public var maxHeadBytes: Int = 8 << 10
        /// The maximum time for an ``Answer/eventually(_:)``. After it, the client gets 503.
        public var waitLimit: Duration = .seconds(60)

        public init() {}

        /// One for each core, at most four. With more, the handlers and not the network limit the throughput.
        private static var defaultThreads: Int { max(1, min(4, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
    }
}

extension HTTPServer.Options {
    /// The maximum time between two requests: idle, and then until the request line is complete.
    var betweenRequests: Duration { idleTimeout + requestDeadline }

    func validate() throws(HTTPServerError) {
        guard 1...64 ~= threads else { throw .optionInvalid("threads must be 1 to 64, not \(threads)") }
        guard connectionLimit >= threads else {
            throw .optionInvalid("the connection limit (\(connectionLimit)) must be at least the threads (\(threads))")
        }
        guard connectionsPerAddress >= 0 else { throw .optionInvalid("connections per address must not be negative") }
        guard idleTimeout >= .seconds(1) else { throw .optionInvalid("the idle timeout must be at least a second") }
        guard requestDeadline > .zero else { throw .optionInvalid("the request deadline must be positive") }
        guard maxBodyBytes >= 0 else { throw .optionInvalid("the body bound must not be negative") }
        guard maxBytesOfBodies >= 0 else { throw .optionInvalid("the bound of all bodies must not be negative") }
        guard 1 << 10...1 << 20 ~= maxHeadBytes else {
            throw .optionInvalid("the head bound must be 1,024 to 1,048,576 bytes, not \(maxHeadBytes)")
        }
        guard waitLimit > .zero else { throw .optionInvalid("the wait limit must be positive") }
    }
}
