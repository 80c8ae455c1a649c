import Downloads
import Foundation

/// How much the engine has to do at this moment, and room to do it in.
public struct EngineLoad: Sendable {
    /// Attempts under way, and how many there may be.
    public var slotsUsed: Int
    public var slots: Int
    /// What all transfers receive together, at the moment and since the start.
    public var bytesPerSecond: Int64
    public var bytesReceived: Int64
    /// Of the file system of the downloads; nil when it does not say.
    public var disk: DiskSpace?
}

/// Bytes of a file system.
public struct DiskSpace: Sendable, Equatable {
    /// What this service may still use.
    public var free: Int64
    public var total: Int64
}

extension Engine {
    /// Why the downloads folder cannot be used; nil while it works.
    public var folderFault: String? {
        services.health.fault.map { "The downloads folder does not work: could not \($0.action): \($0.reason)." }
    }

    public var load: EngineLoad {
        let running = progressOfRunning()
        return EngineLoad(
            slotsUsed: running.count, slots: options.maxConcurrentJobs,
            bytesPerSecond: running.reduce(0) { $0 + ($1.live.bytesPerSecond ?? 0) },
            bytesReceived: services.received.bytes, disk: services.folder.space)
    }
}
