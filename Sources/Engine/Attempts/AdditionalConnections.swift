import Downloads
import Foundation
import HTTPSemantics
import Locks
import Storage

/// The connections to one file besides the primary one: as many as the job wants and hosts have room for, to the URL that
/// the file came from and to its mirrors.
///
/// A lost connection that had brought bytes is replaced after a moment. An address that brought nothing is not requested
/// again in this attempt. So a server that serves one connection only keeps that one, and a server that breaks off now
/// and then keeps all.
final class AdditionalConnections: Sendable {
    /// Fills segments from one source, beginning with the leased one, for as long as the connection is wanted.
    typealias Fetch =
        @Sendable (SegmentSource, SegmentLease, _ isWanted: @Sendable () -> Bool) async -> ConnectionLoss?

    private struct Address: Sendable {
        let source: SegmentSource
        /// The host and port that the connection is counted for.
        var host: String { URLRule.hostAndPort(of: source.home) }
        var connections = 0
        /// It brought nothing, and is not requested again.
        var isStruck = false
        /// By the uptime.
        var restsUntil = Duration.zero
    }

    private struct State {
        /// The first one is the source of the file, which the primary connection is connected to.
        var addresses: [Address]
        var loss: ConnectionLoss?

        var connections: Int { addresses.reduce(0) { $0 + $1.connections } }
    }

    private let context: AttemptContext
    private let file: SegmentedFile
    private let fetch: Fetch
    private let state: Locked<State>
    /// Rings when a connection has ended, or when the client has changed the limits.
    private let bell = AsyncAutoResetEvent()

    /// Seconds between two looks for changes that do not ring.
    private static let look: TimeInterval = 0.2
    /// Seconds that an address rests after it lost a connection.
    private static let rest: TimeInterval = 1
    /// Seconds without a byte after which an idle connection takes over the segment of a silent one.
    private static let patience: TimeInterval = 5

    init(_ context: AttemptContext, _ file: SegmentedFile, fetch: @escaping Fetch) {
        self.context = context
        self.file = file
        self.fetch = fetch
        let first = SegmentSource(url: file.url, home: context.spec.url)
        let others = context.spec.mirrors.map { SegmentSource(url: $0, home: $0) }
        var addresses = ([first] + others).map { Address(source: $0) }
        addresses[0].connections = 1
        state = Locked(State(addresses: addresses))
    }

    /// Returns when the file is complete, or when no connection can bring more of it.
    ///
    /// - Returns: why the last connection that was lost was lost, the primary one included.
    func run() async -> ConnectionLoss? {
        let time = context.time
        await withDiscardingTaskGroup { group in
            while true {
                while let (address, source, lease) = takeConnection() {
                    group.addTask { [self] in
                        let loss = await fetch(source, lease) { self.isWanted }
                        ended(address, loss)
                    }
                }
                if isOver { break }
                // Hosts get room, addresses have rested and connections fall silent without a ring.
                let next = context.limits.connections > 1 ? time.now.addingTimeInterval(Self.look) : nil
                await bell.wait(until: next, by: time)
            }
        }
        return state.withLock { $0.loss }
    }

    /// The primary connection has ended.
    func primaryEnded(_ loss: ConnectionLoss?) {
        note(loss, from: 0)
        bell.set()
    }

    /// The client may want more connections now, or fewer.
    func limitsChanged() { bell.set() }

    private func ended(_ address: Int, _ loss: ConnectionLoss?) {
        let host = state.withLock { $0.addresses[address].host }
        context.hosts.giveBack(at: host, of: context.job.session)
        note(loss, from: address)
        bell.set()
    }

    private func note(_ loss: ConnectionLoss?, from address: Int) {
        let now = context.time.uptime
        state.withLock { state in
            state.addresses[address].connections -= 1
            guard let loss else { return }
            state.loss = loss
            if loss.hasBrought {
                state.addresses[address].restsUntil = now + .seconds(Self.rest)
            } else {
                state.addresses[address].isStruck = true
            }
        }
        if loss?.isFinal == true { file.abandon() }
    }

    private var isOver: Bool {
        if file.isOver || context.control.isStopping { return true }
        let isAlone = context.limits.connections == 1
        return state.withLock { state in
            state.connections == 0
                && (isAlone || state.addresses.allSatisfy(\.isStruck) || !file.isLeasable())
        }
    }

    /// Whether a connection that has filled its segment goes on.
    private var isWanted: Bool {
        let wanted = context.limits.connections
        return state.withLock { $0.connections <= wanted }
    }

    /// Counts one more connection, at its host too, and takes the lease that it begins with.
    ///
    /// - Returns: nil when there are enough connections, when no host has room, or when there is nothing to fetch.
    private func takeConnection() -> (address: Int, SegmentSource, SegmentLease)? {
        let (now, wanted) = (context.time.uptime, context.limits.connections)
        // Under a rate limit fetchd itself may cause the silence.
        let silence = context.limits.isRateLimited ? nil : now - .seconds(Self.patience)
        guard wanted > 1, !context.control.isStopping, file.isLeasable(orStalledSince: silence) else { return nil }
        let address: (index: Int, source: SegmentSource)? = state.withLock { state in
            guard state.connections < wanted, let next = nextAddress(state, at: now) else { return nil }
            state.addresses[next].connections += 1
            return (next, state.addresses[next].source)
        }
        guard let address else { return nil }
        guard let lease = file.lease() ?? silence.flatMap(file.takeOver) else {
            ended(address.index, nil)
            return nil
        }
        return (address.index, address.source, lease)
    }

    /// The address with the fewest connections that is not struck, has rested, and whose host has room. Takes that room.
    private func nextAddress(_ state: State, at now: Duration) -> Int? {
        let byConnections = state.addresses.indices.sorted {
            (state.addresses[$0].connections, $0) < (state.addresses[$1].connections, $1)
        }
        return byConnections.first { index in
            let address = state.addresses[index]
            return !address.isStruck && address.restsUntil <= now
                && context.hosts.take(
                    at: address.host, of: context.job.session, atMost: context.spec.maxConnectionsPerHost)
        }
    }
}
