import Base
import Downloads
import Foundation
import Storage

/// Inspects the folder of a location. While it does not work, no attempt to download to it begins. When it works again, the jobs
/// that wait for it continue.
struct FolderMonitor: Sendable {
    let services: EngineServices
    let location: Location
    private let finalizeQueue: FinalizeQueue
    private let diskQueue: DiskQueue

    init(services: EngineServices, location: Location, finalizeQueue: FinalizeQueue) {
        self.services = services
        self.location = location
        self.finalizeQueue = finalizeQueue
        diskQueue = location.diskQueues.next()
    }

    static let purpose = "end the waits for a location"
    /// Seconds between two inspections of a folder that works, and of one that does not work.
    private static let (interval, faultInterval) = (10.0, 1.0)

    /// Begins a pass when a folder that has worked does not work.
    func watch() async -> Date? {
        let folder = location.folder
        // An inspection opens a folder that was replaced, so two must not run at once.
        await services.time.wait(every: .seconds(Self.interval)) { [diskQueue] in
            diskQueue.sync { folder.inspect(byWriting: false) != nil }
        }
        location.health.doubts.set()
        return services.time.now
    }

    func pass() async throws -> Date? {
        let fault = await inspect(isInDoubt: location.health.consumeDoubt())
        var promotions: [AdmittedJob] = []
        if fault == nil, location.isRecoveryDue {
            try await services.noteFolder(of: location)
            // Before an attempt can write to a part.
            _ = try await services.sweepParts(in: location)
            promotions = location.endRecovery()
        }
        let before = location.health.record(fault)
        if let fault, before == nil { services.log.error("\(location.title) \(fault.asFolderFault)") }
        if fault == nil, before != nil { await endWaits() }
        if !promotions.isEmpty { await finalizeQueue.complete(promotions) }
        guard fault != nil else { return nil }
        // Each inspection of a bucket costs requests.
        return services.time.now.addingTimeInterval(location.bucket == nil ? Self.faultInterval : Self.interval)
    }

    private func inspect(isInDoubt: Bool) async -> DiskError? {
        guard let bucket = location.bucket else {
            let folder = location.folder
            return try? await diskQueue.run { folder.inspect(byWriting: isInDoubt) }
        }
        return isInDoubt ? await bucket.inspect() : location.health.fault
    }

    private func endWaits() async {
        services.log.notice("\(location.title) works again.")
        do {
            try await services.store.endStorageWaits(for: location.name)
        } catch {
            // In this case each job retries at its own time.
            services.log.error("Could not \(Self.purpose): \(error). They end by themselves.")
        }
        services.store.work(.jobs).set()
    }
}

extension DiskError {
    /// The end of a sentence that begins with the folder.
    var asFolderFault: String { "does not work: could not \(action): \(reason). Jobs wait." }
}

/// Whether the folder of a location worked at its last inspection. While it does not, its attempts do not begin. While the
/// downloads folder does not, the service reports that it is not ready.
final class FolderHealth: Sendable {
    private struct State {
        var fault: DiskError?
        var isInDoubt = false
    }

    private let state = Locked(State())
    /// Set when an attempt has met a disk error.
    let doubts = AsyncAutoResetEvent()

    /// nil while the folder works.
    var fault: DiskError? { state.withLock { $0.fault } }

    func doubt() {
        state.withLock { $0.isInDoubt = true }
        doubts.set()
    }

    /// Whether the next inspection has to write, because the folder does not work or an attempt met an error. Clears
    /// the doubt.
    func consumeDoubt() -> Bool {
        state.withLock { state in
            defer { state.isInDoubt = false }
            return state.isInDoubt || state.fault != nil
        }
    }

    /// - Returns: the fault of the inspection before.
    func record(_ fault: DiskError?) -> DiskError? {
        state.withLock { state in
            defer { state.fault = fault }
            return state.fault
        }
    }
}
