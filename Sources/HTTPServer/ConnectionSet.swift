import Base
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
        /// The number of connections of each limited network.
        var counts: [ClientNetwork: Int] = [:]
    }

    private let members = Locked(Members())
    private let current = Atomic<Stage>(.open)

    var stage: Stage { current.load(ordering: .sequentiallyConsistent) }

    var isEmpty: Bool { members.withLock { $0.connections.isEmpty } }
    var count: Int { members.withLock { $0.connections.count } }

    func count(of network: ClientNetwork) -> Int { members.withLock { $0.counts[network] ?? 0 } }

    /// - Returns: whether the set was empty.
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

    /// Closes idle connections and finishes streams. Other exchanges continue.
    func beginClosing() {
        current.store(.closing, ordering: .sequentiallyConsistent)
        for connection in snapshot() {
            if case .streaming(let stream) = connection.phaseForStopping() { stream.close(.serverStopped) }
        }
    }

    /// Responds to all waiting requests, and prevents further waits.
    func cutShort(stopping: (RequestHead) -> Response) {
        current.store(.cutShort, ordering: .sequentiallyConsistent)
        for connection in snapshot() {
            if case .waiting(let answer, _) = connection.phaseForStopping() {
                answer.settle(with: stopping(answer.head))
            }
        }
    }

    private func snapshot() -> [Connection] { members.withLock { Array($0.connections.values) } }
}

/// The clients that share a limit on connections: an IPv4 address, or the /64 network of an IPv6 address, because one
/// client can usually use all addresses of such a network.
enum ClientNetwork: Hashable {
    case v4(UInt32)
    case v6(UInt64)

    /// nil for clients without an IP address.
    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: self = .v4(UInt32(bigEndian: raw.load(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            let words = withUnsafeBytes(of: raw.load(as: sockaddr_in6.self).sin6_addr) { bytes in
                (0..<4).map { UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)) }
            }
            self.init(words)
        default: return nil
        }
    }

    /// - Parameter words: the four words of an IPv6 address.
    private init(_ words: [UInt32]) {
        let upper = UInt64(words[0]) << 32 | UInt64(words[1])
        switch (upper, words[2], words[3]) {
        case (0, 0xFFFF, let mapped): self = .v4(mapped)
        case (0, 0, 1): self = .v4(0x7F00_0001)
        default: self = .v6(upper)
        }
    }

    var isLoopback: Bool {
        switch self {
        case .v4(let address): address >> 24 == 127
        case .v6: false
        }
    }
}
