import Downloads
import Foundation
import HTTPSemantics
import Locks
import Storage

/// The connections to one file besides the primary connection. They use the URL that the file came from and the job's
/// mirrors. Their number is limited by the job's `connections` and by the limits of the hosts.
///
/// A connection that was lost after it received bytes is replaced after `rest`. An address that sent no bytes is not
/// requested again in this attempt. So a server that serves only one connection keeps that one, and a server that
/// sometimes breaks a connection keeps all of them.
final class AdditionalConnections: Sendable {
    /// Fills segments from one source, beginning with the leased one, while `isWanted` returns true.
    typealias Fetch =
        @Sendable (SegmentSource, SegmentLease, _ isWanted: @Sendable () -> Bool) async -> ConnectionLoss?

    private struct Address: Sendable {
        let source: SegmentSource
        /// The host and port that the connection is counted for.
        var host: String { URLRule.hostAndPort(of: source.home) }
        var connections = 0
        /// The address sent no bytes, and is not requested again.
        var isStruck = false
        /// The uptime before which the address is not requested.
        var restsUntil = Duration.zero
    }

    private struct State {
        /// The first address is the source of the file, which the primary connection uses.
        var addresses: [Address]
        var loss: ConnectionLoss?

        var connections: Int { addresses.reduce(0) { $0 + $1.connections } }
    }

    private let context: AttemptContext
    private let file: SegmentedFile
    private let fetch: Fetch
    private let state: Locked<State>
    /// Set when a connection has ended, or when the client has changed the limits.
    private let bell = AsyncAutoResetEvent()

    /// Seconds between two checks for changes that do not set the bell.
    private static let checkInterval: TimeInterval = 0.2
    /// Seconds that an address rests after it lost a connection.
    private static let rest: TimeInterval = 1
    /// Seconds without a byte after which an idle connection takes over the segment of a silent one.
    private static let silenceLimit: TimeInterval = 5

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

    /// Returns when the file is complete, or when no connection can fetch more of it.
    ///
    /// - Returns: the loss of the connection that was lost last, the primary one included; nil when none was lost.
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
                // A host with room again, an address that has rested and a silent connection do not set the bell.
                let next = context.limits.connections > 1 ? time.now.addingTimeInterval(Self.checkInterval) : nil
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

    /// Called when the client has changed the limits: the job may want more connections now, or fewer.
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

    /// Whether a connection that has filled its segment takes another one.
    private var isWanted: Bool {
        let wanted = context.limits.connections
        return state.withLock { $0.connections <= wanted }
    }

    /// Counts one more connection, also at its host, and takes the first lease of that connection.
    ///
    /// - Returns: nil when the job has enough connections, when no host has room, or when nothing is left to fetch.
    private func takeConnection() -> (address: Int, SegmentSource, SegmentLease)? {
        let (now, wanted) = (context.time.uptime, context.limits.connections)
        // Under a rate limit, fetchd itself may cause the silence.
        let silence = context.limits.isRateLimited ? nil : now - .seconds(Self.silenceLimit)
        guard wanted > 1, !context.control.isStopping, file.isLeasable(orStalledSince: silence) else { return nil }
        let address: (index: Int, source: SegmentSource)? = state.withLock { state in
            guard state.connections < wanted, let next = nextAddress(state, of: wanted, at: now) else {
                return nil
            }
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

    /// The address with the fewest connections that is not struck, has rested, and whose host has room. Counts the
    /// connection at that host.
    ///
    /// - Parameter wanted: the connections of the job. Those that are missing are claimed at all addresses together.
    private func nextAddress(_ state: State, of wanted: Int, at now: Duration) -> Int? {
        let usable = max(1, state.addresses.count { !$0.isStruck })
        let wish = ConnectionClaims.Wish(count: (wanted - state.connections + usable - 1) / usable, bell: bell)
        let byConnections = state.addresses.indices.sorted {
            (state.addresses[$0].connections, $0) < (state.addresses[$1].connections, $1)
        }
        return byConnections.first { index in
            let address = state.addresses[index]
            return !address.isStruck && address.restsUntil <= now
                && context.hosts.take(
                    at: address.host, of: context.job.session, atMost: context.spec.maxConnectionsPerHost, wish: wish)
        }
    }
}
