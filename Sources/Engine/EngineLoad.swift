import Base
import Downloads
import Foundation
import Storage

public struct EngineLoad: Sendable {
    public var slotsUsed: Int
    public var slots: Int
    public var bytesPerSecond: Int64
    public var bytesReceived: Int64
    /// Bytes per second in each complete interval of the last five minutes, oldest first.
    public var throughput: [Int64]
    /// The length of an interval of `throughput` in seconds.
    public let throughputInterval = ThroughputHistory.interval
    /// Space of the file system of the downloads folder; nil when the system does not report it.
    public var disk: DiskSpace?
    /// Servers by the state of their gate.
    public var hosts: [HostGate.State: Int] = [:]
    /// Responses that held a server off.
    public var refusals: Int
}

extension Engine {
    /// Why the downloads folder cannot be used; nil while it works.
    public var folderFault: String? {
        services.locations.main.health.fault.map {
            "The downloads folder does not work: could not \($0.action): \($0.reason)."
        }
    }

    /// - Parameter start: the uptime at which the service started. `throughput` has no earlier intervals.
    public func load(since start: Duration) async -> EngineLoad {
        let disk = try? await services.locations.main.inFolder(\.space)
        let running = active.reports
        return EngineLoad(
            slotsUsed: running.count, slots: services.limits.withLock(\.jobs),
            bytesPerSecond: running.reduce(0) { $0 + ($1.live.bytesPerSecond ?? 0) },
            bytesReceived: services.received.bytes,
            throughput: services.received.rates(at: services.time.uptime, since: start), disk: disk,
            hosts: services.gates.views().reduce(into: [:]) { $0[$1.state, default: 0] += 1 },
            refusals: services.gates.refusals)
    }
}

public typealias RunningJob = NodeExchange.Report

public struct EngineMeasurements: Sendable {
    /// Attempts, from their start to the commit of their end.
    public let attempts = HistogramFamily<AttemptResult>(.downloads)
    public let failures = CounterFamily<Failure.Code>()
    /// Syncs of the downloads folder: of one or several parts, with the names of new ones.
    public let syncs = HistogramRecorder(.disk)
}

public enum AttemptResult: String, Sendable, CaseIterable {
    case succeeded, failed
    /// A client paused or cancelled the job, its time was over, or fetchd stops.
    case stopped
}
