import Downloads
import Foundation

extension Engine {
    /// Why the downloads folder cannot be used; nil while it works.
    public var folderFault: String? {
        services.health.fault.map { "The downloads folder does not work: could not \($0.action): \($0.reason)." }
    }

    /// - Parameter start: the uptime at which the service started. `throughput` has no earlier intervals.
    public func load(since start: Duration) async -> EngineLoad {
        let disk = try? await services.lanes.metadata.run { [folder = services.folder] in folder.space }
        let running = active.reports
        return EngineLoad(
            slotsUsed: running.count, slots: services.limits.withLock(\.jobs),
            bytesPerSecond: running.reduce(0) { $0 + ($1.live.bytesPerSecond ?? 0) },
            bytesReceived: services.received.bytes,
            throughput: services.received.rates(at: services.time.uptime, since: start), disk: disk)
    }
}
