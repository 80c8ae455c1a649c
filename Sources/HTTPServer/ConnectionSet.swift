import Base
import Formats
import Glibc
import Synchronization

/// The open connections, and the stage of the stop.
///
/// The stage is here because of one rule. A connection that starts to wait or to stream first records its phase and
/// then reads the stage. A stop first sets the stage and then visits the connections. So at least one of them sees the
/// other, and no wait outlives the stop.
final class ConnectionSet: Sendable {
    enum Stage: UInt8, AtomicRepresentable {
        case open
        /// No new connections are accepted, every response is the last one of its connection, and streams are finished.
        case closing
        /// No response may be waited for.
        case cutShort
    }

    private struct Members {
        var connections: [ObjectIdentifier: Connection] = [:]
        var counts: [ClientNetwork: Int] = [:]
    }

    private let members = Locked(Members())
    private let current = Atomic<Stage>(.open)

    var stage: Stage { current.load(ordering: .sequentiallyConsistent) }

    var isEmpty: Bool { members.withLock { $0.connections.isEmpty } }
    var count: Int { members.withLock { $0.connections.count } }

    func count(of network: ClientNetwork) -> Int { members.withLock { $0.counts[network] ?? 0 } }

    func insert(_ connection: Connection) -> Bool {
        members.withLock { members in
            if let network = connection.network { members.counts[network, default: 0] += 1 }
            defer { members.connections[ObjectIdentifier(connection)] = connection }
            return members.connections.isEmpty
        }
    }

    func remove(_ connection: Connection) {
        members.withLock { members in
            guard members.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil,
                let network = connection.network, let count = members.counts[network]
            else { return }
            members.counts[network] = count > 1 ? count - 1 : nil
        }
    }

    /// Enforces the time limits. A sweep visits at most `connectionLimit` connections from time to time, and costs
    /// nothing for each request; a timer for each request would.
    func expire(at now: Connection.Instant, limits: HTTPServer.Options, overdue: (RequestHead) -> Response) {
        for connection in snapshot() {
            guard let answer = connection.expire(at: now, limits: limits) else { continue }
            answer.settle(with: overdue(answer.head))
        }
    }

    func beginClosing() {
        current.store(.closing, ordering: .sequentiallyConsistent)
        for connection in snapshot() {
            if case .streaming(let stream) = connection.phaseForStopping() { stream.close(.serverStopped) }
        }
    }

    func cutShort(stopping: (RequestHead) -> Response) {
        current.store(.cutShort, ordering: .sequentiallyConsistent)
        for connection in snapshot() {
            switch connection.phaseForStopping() {
            case .waiting(let answer, _): answer.settle(with: stopping(answer.head))
            case .paused(let pause, _):
                connection.abort()
                pause.end()
            case .idle, .receiving, .answering, .streaming, .sending: break
            }
        }
    }

    private func snapshot() -> [Connection] { members.withLock { Array($0.connections.values) } }
}

/// The clients that share a limit on connections: an IPv4 address, or the /64 network of an IPv6 address, because one
/// client can usually use all addresses of such a network.
struct ClientNetwork: Hashable {
    private let address: IPAddress

    init?(_ address: UnsafePointer<sockaddr>) {
        guard let address = IPAddress(address) else { return nil }
        self.address = address.isIPv4 ? address : address == Self.loopback6 ? Self.loopback : address.prefix(64)
    }

    private static let loopback = IPAddress("127.0.0.1")!
    private static let loopback6 = IPAddress("::1")!
    private static let loopbacks = Network("127.0.0.0/8")!

    var isLoopback: Bool { Self.loopbacks.contains(address) }
}

extension IPAddress {
    /// - Parameter address: the beginning of the structure of its family.
    init?(_ address: UnsafePointer<sockaddr>) {
        let isV6 = Int32(address.pointee.sa_family) == AF_INET6
        self.init(
            UnsafeRawPointer(address),
            length: isV6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
    }
}
