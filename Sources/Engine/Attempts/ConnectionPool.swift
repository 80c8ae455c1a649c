import Base
import Downloads
import Foundation
import HTTPSemantics

struct ConnectionSource: Sendable, Hashable {
    var url: String
    /// The URL of the job that led to `url`. The job's headers and credentials are sent to the origin of this URL only.
    var home: String
    /// Another URL of the job, or a discovered one.
    var isMirror = false
    /// The server of the job has named the mirror.
    var isDiscovered = false
}

/// The connections of one attempt by their sources: the URL that the file came from, which the primary connection uses,
/// and the job's mirrors. This is a value: it decides which source gets another connection, and the attempt opens it.
///
/// A connection that was lost after it received bytes is replaced after `rest`. A source that sent no bytes is not
/// requested again in this attempt. So a server that serves only one connection keeps that one, and a server that
/// sometimes breaks a connection keeps all of them.
struct ConnectionPool: Sendable {
    private struct Entry: Sendable {
        let source: ConnectionSource
        var connections = 0
        /// The source sent no bytes, and is not requested again.
        var isExcluded = false
        /// The uptime before which the source is not requested.
        var restsUntil = Duration.zero

        /// The host and port that the connection is counted for.
        var host: String { URLRule.hostAndPort(of: source.isDiscovered ? source.url : source.home) }
    }

    struct Opened: Sendable {
        var index: Int
        var source: ConnectionSource
        var host: String
    }

    private var entries: [Entry]
    /// The loss of the connection that was lost last; nil when none was lost.
    private(set) var lastLoss: ConnectionLoss?

    private static let rest: TimeInterval = 1

    /// The primary connection is counted from the beginning.
    init(of file: SegmentedFile, for spec: ResolvedSpec) {
        let mirrors = spec.mirrors.map { ConnectionSource(url: $0, home: $0, isMirror: true) }
        let discovered = spec.discovered.map {
            ConnectionSource(url: $0, home: spec.home, isMirror: true, isDiscovered: true)
        }
        let primary = ConnectionSource(url: file.url, home: spec.home)
        entries = ([primary] + mirrors + discovered).map { Entry(source: $0) }
        entries[0].connections = 1
    }

    var connections: Int { entries.reduce(0) { $0 + $1.connections } }

    var areAllExcluded: Bool { entries.allSatisfy(\.isExcluded) }

    /// Counts one more connection: to the source with the fewest connections that is not excluded, has rested, and whose
    /// host has room.
    ///
    /// - Parameters:
    ///   - wanted: the connections of the job. Those that are missing are claimed at all sources together.
    ///   - hasSamples: whether the file has bytes that those of a discovered mirror can be compared with.
    ///   - take: counts a connection at a host; returns false if the host has no room.
    mutating func open(
        upTo wanted: Int, at now: Duration, hasSamples: Bool = true,
        taking take: (_ host: String, _ missing: Int) -> Bool
    ) -> Opened? {
        guard connections < wanted else { return nil }
        // The connections are kept for the mirrors until then.
        if !hasSamples, entries.contains(where: { $0.source.isDiscovered && !$0.isExcluded }) { return nil }
        let usable = max(1, entries.count { !$0.isExcluded })
        let missing = (wanted - connections + usable - 1) / usable
        let byConnections = entries.indices.sorted { (entries[$0].connections, $0) < (entries[$1].connections, $1) }
        let next = byConnections.first { index in
            let entry = entries[index]
            return !entry.isExcluded && entry.restsUntil <= now && take(entry.host, missing)
        }
        guard let next else { return nil }
        entries[next].connections += 1
        return Opened(index: next, source: entries[next].source, host: entries[next].host)
    }

    mutating func close(_ index: Int, _ loss: ConnectionLoss?, at now: Duration) {
        entries[index].connections -= 1
        guard let loss else { return }
        lastLoss = loss
        if loss.hasReceived {
            entries[index].restsUntil = now + .seconds(Self.rest)
        } else {
            entries[index].isExcluded = true
        }
    }
}

// MARK: - Opening further connections

extension Attempt {
    /// Fills segments from one source, beginning with the claimed one, while `isWanted` returns true.
    typealias Fetch =
        @Sendable (ConnectionSource, SegmentClaim, _ isWanted: @Sendable () -> Bool) async -> ConnectionLoss?

    /// Seconds between two checks for changes that do not set `mayConnect`.
    private static let checkInterval: TimeInterval = 0.2
    /// Seconds without a byte after which an idle connection takes over the segment of a silent one.
    private static let silenceLimit: TimeInterval = 5

    /// Opens connections beside the primary one, as many as the job wants and the hosts have room for.
    ///
    /// Returns when the file is complete, or when no connection can fetch more of it.
    ///
    /// - Returns: the loss of the connection that was lost last, the primary one included; nil when none was lost.
    func openFurtherConnections(to file: SegmentedFile, _ fetch: @escaping Fetch) async -> ConnectionLoss? {
        let time = services.time
        await withDiscardingTaskGroup { group in
            while true {
                while let (connection, claim) = nextConnection(to: file) {
                    group.addTask { [self] in
                        let loss = await fetch(connection.source, claim) { self.isConnectionWanted }
                        furtherConnectionEnded(connection, to: file, loss)
                    }
                }
                if isFetchingOver(file) { break }
                // A host with room again, a source that has rested and a silent connection do not set the event.
                let next = control.connections > 1 ? time.now.addingTimeInterval(Self.checkInterval) : nil
                await control.mayConnect.wait(until: next, by: time)
            }
        }
        return state.withLock { $0.pool?.lastLoss }
    }

    func primaryConnectionEnded(to file: SegmentedFile, _ loss: ConnectionLoss?) { connectionEnded(0, to: file, loss) }

    private func furtherConnectionEnded(
        _ connection: ConnectionPool.Opened, to file: SegmentedFile, _ loss: ConnectionLoss?
    ) {
        services.connections.release(at: connection.host, of: job.session)
        if let loss, !loss.hasReceived { drop(connection.source, loss.failure) }
        connectionEnded(connection.index, to: file, loss)
    }

    private func connectionEnded(_ index: Int, to file: SegmentedFile, _ loss: ConnectionLoss?) {
        let now = services.time.uptime
        state.withLock { $0.pool?.close(index, loss, at: now) }
        if loss?.isFinal == true { file.abandon() }
        control.mayConnect.set()
    }

    private func isFetchingOver(_ file: SegmentedFile) -> Bool {
        if file.isOver || control.isStopping { return true }
        let isAlone = control.connections == 1
        return state.withLock { state in
            guard let pool = state.pool else { return true }
            return pool.connections == 0 && (isAlone || pool.areAllExcluded || !file.isClaimable())
        }
    }

    /// Whether a connection that has filled its segment takes another one.
    private var isConnectionWanted: Bool {
        let wanted = control.connections
        return state.withLock { $0.pool.map { $0.connections <= wanted } ?? false }
    }

    /// Counts one more connection, also at its host, and takes the first claim of that connection.
    ///
    /// - Returns: nil when the job has enough connections, when no host has room, or when nothing is left to fetch.
    private func nextConnection(to file: SegmentedFile) -> (ConnectionPool.Opened, SegmentClaim)? {
        let (now, wanted) = (services.time.uptime, control.connections)
        // Under a rate limit, and before a full window, fetchd itself may cause the silence.
        let silence = control.isRateLimited || file.part.staging != nil ? nil : now - .seconds(Self.silenceLimit)
        guard wanted > 1, !control.isStopping, file.isClaimable(orStalledSince: silence) else { return nil }
        let opened = state.withLock { state in
            state.pool?.open(upTo: wanted, at: now, hasSamples: file.part.written.count >= Part.leastSample) {
                host, missing in
                services.connections.acquire(
                    at: host, of: job.session, atMost: spec.maxConnections(at: host),
                    wish: ConnectionClaims.Wish(count: missing, bell: control.mayConnect))
            }
        }
        guard let opened else { return nil }
        guard let claim = file.claim() ?? silence.flatMap(file.takeOver) else {
            furtherConnectionEnded(opened, to: file, nil)
            return nil
        }
        return (opened, claim)
    }
}
