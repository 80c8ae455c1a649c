import Glibc

/// A port that should never get a connection. It counts those that it accepts, and closes them.
public final class Canary: Sendable {
    public enum Place: Sendable {
        /// Every address of this machine, IPv6 and IPv4.
        case everywhere
        /// 127.0.0.1 only.
        case loopback
    }

    public let port: UInt16
    private let listener: LoopbackSocket
    private let accepted = Monitor(0)

    public init(at place: Place = .everywhere) throws {
        let listener =
            switch place {
            case .everywhere: try Self.listeningEverywhere()
            case .loopback: try LoopbackSocket.listening()
            }
        (self.listener, port) = (listener, listener.port)
        detachThread { [accepted] in
            while let connection = listener.accept() {
                accepted.withLock { $0 += 1 }
                connection.shutDown()
            }
        }
    }

    deinit { listener.shutDown() }

    /// The accepted connections so far. A connection of this function is accepted after all earlier ones, so none of
    /// these is still in the queue of the kernel.
    public func connections() throws -> Int {
        let own = try LoopbackSocket.connected(to: port)
        // The end of the stream: the connection is counted.
        _ = own.receive()
        return accepted.withLock { count in
            count -= 1
            return count
        }
    }

    private static func listeningEverywhere() throws -> LoopbackSocket {
        let socket = LoopbackSocket(
            owning: socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        // Without IPv6 on this machine, the addresses of IPv4 have to do.
        guard withSocketAddress(&address, { socket.startListening(at: $0, $1) }) else {
            return try .listeningAtAllIPv4()
        }
        return socket
    }
}

extension LoopbackSocket {
    fileprivate static func listeningAtAllIPv4() throws -> LoopbackSocket {
        let socket = LoopbackSocket(
            owning: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        guard withSocketAddress(&address, { socket.startListening(at: $0, $1) }) else {
            throw Failure(call: "listen", errno: errno)
        }
        return socket
    }
}
