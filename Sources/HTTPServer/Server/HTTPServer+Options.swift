// Everything about a server that can be chosen, with defaults for a service behind a handful of clients. There are no
// flags or environment variables here: only the executable knows those.

import Glibc

extension HTTPServer {
    /// The choices that a server is started with.
    public struct Options: Sendable, Hashable {
        /// An IPv4 or IPv6 literal; `::` also takes IPv4 clients.
        public var address: String = "127.0.0.1"
        /// 0 lets the system pick; see ``HTTPServer/port``.
        public var port: UInt16 = 0
        /// Network threads, 1 to 64. Each serves its own share of the connections.
        public var threads: Int = Options.defaultThreads
        /// Open connections altogether, at least one per thread. At the limit new clients wait in the kernel's queue.
        public var connectionLimit: Int = 10_000
        /// Open connections per client address; 0 for no limit. One more is closed at once.
        public var connectionsPerAddress: Int = 0
        /// How long a connection may pass no byte in either direction while no answer is being prepared: whole
        /// seconds, at least one. It also bounds a client that has stopped reading its answer.
        public var idleTimeout: Duration = .seconds(60)
        /// How long a request may take from its first byte to its last, however busily it trickles in. A new
        /// connection's first request counts from its acceptance; a later one is given the idle time on top until its
        /// request line is there.
        public var requestDeadline: Duration = .seconds(30)
        /// Bytes of a body, 0 or more, unless ``RequestHandler/admit(_:)`` sets another bound.
        public var maxBodyBytes: Int = 1 << 20
        /// Bytes of a request line and header fields, 1,024 to 1,048,576. A larger head is answered with 431. Every open
        /// connection takes about twice as much memory.
        public var maxHeadBytes: Int = 8 << 10
        /// How long an eventual answer may take before the client is told 503.
        public var waitLimit: Duration = .seconds(60)

        public init() {}

        /// One for each core up to four: beyond that the handlers, not the network, are what is waited for.
        private static var defaultThreads: Int { max(1, min(4, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
    }
}

extension HTTPServer.Options {
    /// The longest that a used connection may be without a request line: quiet, and then the line itself.
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
        guard 1 << 10...1 << 20 ~= maxHeadBytes else {
            throw .optionInvalid("the head bound must be 1,024 to 1,048,576 bytes, not \(maxHeadBytes)")
        }
        guard waitLimit > .zero else { throw .optionInvalid("the wait limit must be positive") }
    }
}
