import Downloads
import Foundation
import Locks

/// What the nodes tell each other every second without a group commit: the progress of their running jobs, how many run
/// where, and how many may run.
public final class NodeExchange: Sendable {
    /// A running job, as its node has reported it.
    public struct Report: Sendable {
        public var job: JobID
        public var session: Name
        public var live: LiveProgress

        public init(job: JobID, session: Name, live: LiveProgress) {
            (self.job, self.session, self.live) = (job, session, live)
        }
    }

    /// How many jobs run on this node and on all nodes.
    public struct Demand: Sendable, Equatable {
        public var own = 0
        public var all = 0

        public init(own: Int = 0, all: Int = 0) { (self.own, self.all) = (own, all) }

        /// The part of a common limit that this node may use.
        public var share: Double { all == 0 ? 1 : Double(own) / Double(all) }
    }

    private struct State {
        var source: @Sendable () -> [Report] = { [] }
        var onDemand: @Sendable ([Name: Demand]) -> Void = { _ in }
        var slots: (@Sendable () -> Int)?
        var others: [JobID: Report] = [:]
    }

    private let state = Locked(State())

    init() {}

    /// - Parameters:
    ///   - source: the running jobs of this node.
    ///   - onDemand: called about every second with the running jobs of each session. It must return quickly.
    public func connect(
        _ source: @escaping @Sendable () -> [Report], onDemand: @escaping @Sendable ([Name: Demand]) -> Void
    ) {
        state.withLock { ($0.source, $0.onDemand) = (source, onDemand) }
    }

    /// - Parameter slots: the largest number of jobs that run on this node at once. Before this call, it is that of the
    ///   node's description.
    public func reportSlots(_ slots: @escaping @Sendable () -> Int) { state.withLock { $0.slots = slots } }

    /// A job that runs on another node, as it was reported when this node reached the database last; nil if no node had reported
    /// it in the seconds before.
    public subscript(job: JobID) -> Report? { state.withLock { $0.others[job] } }

    /// The running jobs of the other nodes, when this node reached the database last.
    public var others: [Report] { state.withLock { Array($0.others.values) } }

    var own: [Report] { state.withLock(\.source)() }
    var slots: Int? { state.withLock(\.slots)?() }

    func take(_ others: [Report], _ demand: [Name: Demand]) {
        let onDemand = state.withLock { state in
            state.others = Dictionary(others.map { ($0.job, $0) }) { $1 }
            return state.onDemand
        }
        onDemand(demand)
    }
}

extension NodeExchange.Report {
    /// The progress as the database has it: `transferring 1000 500 2000 - 7`; `-` for an unknown number.
    var text: String {
        let numbers = [live.bytesReceived, live.bytesDurable, live.bytesExpected, live.bytesPerSecond, live.tick]
        return ([live.phase.rawValue] + numbers.map { $0.map(String.init) ?? "-" }).joined(separator: " ")
    }

    /// nil if another version wrote it in another way.
    init?(job: JobID, session: Name, text: String) {
        let fields = text.split(separator: " ")
        guard fields.count == 6, let phase = LiveProgress.Phase(rawValue: String(fields[0])),
            let received = Int64(fields[1]), let durable = Int64(fields[2]), let tick = Int64(fields[5])
        else { return nil }
        self.init(
            job: job, session: session,
            live: LiveProgress(
                phase: phase, bytesReceived: received, bytesDurable: durable, bytesExpected: Int64(fields[3]),
                bytesPerSecond: Int64(fields[4]), tick: tick))
    }
}
