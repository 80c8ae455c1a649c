import Downloads
import Formats
import Foundation
import HTTPSemantics
import Locks
import Storage

/// The connections beside the first: as many as are wanted, where hosts have room for them, to the address that the file
/// came from and to its mirrors in turn.
///
/// A connection that is lost is replaced after a moment when it had brought something; an address that brings nothing is
/// not asked again in this attempt. So a server that plays with one connection only keeps that one, and a server that
/// breaks off now and then keeps all.
final class Crew: Sendable {
    private struct Address: Sendable {
        let source: Connection.Source
        /// As connections are counted.
        var host: String { URLRule.hostAndPort(of: source.home) }
        var connections = 0
        var isStruck = false
        /// By the uptime.
        var restsUntil = Duration.zero
    }

    private struct State {
        /// The first one is where the file was found, and where the first connection is.
        var addresses: [Address]
        var loss: Connection.Loss?

        var connections: Int { addresses.reduce(0) { $0 + $1.connections } }
    }

    private let attempt: Attempt
    private let assembly: Assembly
    private let state: Locked<State>

    /// Between looks for what has changed without a ring.
    private static let look: TimeInterval = 0.2
    /// How long an address rests that lost a connection.
    private static let rest: TimeInterval = 1
    /// After so long without a byte a connection is taken for dead when another one is idle.
    private static let patience: TimeInterval = 5

    init(_ attempt: Attempt, _ assembly: Assembly) {
        self.attempt = attempt
        self.assembly = assembly
        let first = Connection.Source(url: assembly.url, home: attempt.spec.url)
        let others = attempt.spec.mirrors.map { Connection.Source(url: $0, home: $0) }
        var addresses = ([first] + others).map { Address(source: $0) }
        addresses[0].connections = 1
        state = Locked(State(addresses: addresses))
    }

    /// Returns when the file is whole, or nothing more can be had.
    ///
    /// - Returns: why the last connection that was lost was lost.
    func run() async -> Connection.Loss? {
        let time = attempt.services.time
        await withDiscardingTaskGroup { group in
            while true {
                while let (connection, address, claim) = hire() {
                    group.addTask { [self] in
                        let loss = await connection.fillShares(from: claim) { isWanted }
                        left(address, loss)
                    }
                }
                if isOver { break }
                // Hosts get room, addresses have rested, connections fall silent: all of it without a ring.
                let next = attempt.connections > 1 ? time.now.addingTimeInterval(Self.look) : nil
                await attempt.crewBell.wait(until: next, by: time)
            }
        }
        return state.withLock { $0.loss }
    }

    /// The first connection has ended.
    func leadLeft(_ loss: Connection.Loss?) {
        note(loss, from: 0)
        attempt.crewBell.ring()
    }

    private func left(_ address: Int, _ loss: Connection.Loss?) {
        let host = state.withLock { $0.addresses[address].host }
        attempt.services.connections.giveBack(at: host, of: attempt.job.session)
        note(loss, from: address)
        attempt.crewBell.ring()
    }

    private func note(_ loss: Connection.Loss?, from address: Int) {
        let now = attempt.services.time.uptime
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
        if loss?.isFinal == true { assembly.abandon() }
    }

    private var isOver: Bool {
        if assembly.isOver || attempt.control.isStopping { return true }
        let isAlone = attempt.connections == 1
        return state.withLock { state in
            state.connections == 0
                && (isAlone || state.addresses.allSatisfy(\.isStruck) || !assembly.isClaimable())
        }
    }

    /// Whether a connection that has filled its share is to go on.
    private var isWanted: Bool {
        let wanted = attempt.connections
        return state.withLock { $0.connections <= wanted }
    }

    /// One more connection and what it begins with; nil when there are enough, or no host has room, or nothing is to do.
    private func hire() -> (Connection, address: Int, Segments.Claim)? {
        let (now, wanted) = (attempt.services.time.uptime, attempt.connections)
        // Where a rate limit holds, silence may be our own.
        let silence = attempt.isRateLimited ? nil : now - .seconds(Self.patience)
        guard wanted > 1, !attempt.control.isStopping, assembly.isClaimable(orStalledSince: silence) else { return nil }
        let address: (index: Int, source: Connection.Source)? = state.withLock { state in
            guard state.connections < wanted, let next = nextAddress(state, at: now) else { return nil }
            state.addresses[next].connections += 1
            return (next, state.addresses[next].source)
        }
        guard let address else { return nil }
        guard let claim = assembly.claim() ?? silence.flatMap(assembly.takeOver) else {
            left(address.index, nil)
            return nil
        }
        return (Connection(attempt: attempt, assembly: assembly, source: address.source), address.index, claim)
    }

    /// The one with the fewest connections that is not struck, has rested, and whose host has room; that room is taken.
    private func nextAddress(_ state: State, at now: Duration) -> Int? {
        let (connections, session) = (attempt.services.connections, attempt.job.session)
        let byConnections = state.addresses.indices.sorted {
            (state.addresses[$0].connections, $0) < (state.addresses[$1].connections, $1)
        }
        return byConnections.first { index in
            let address = state.addresses[index]
            return !address.isStruck && address.restsUntil <= now
                && connections.take(at: address.host, of: session, atMost: attempt.spec.maxConnectionsPerHost)
        }
    }
}
