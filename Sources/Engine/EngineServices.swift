import Base
import CurlClient
import Downloads
import Formats
import Foundation
import HTTPSemantics
import Logging
import Storage

/// The values that the parts of the engine share: the store, the locations of files, the transfer client.
struct EngineServices: Sendable {
    let options: Engine.Options
    /// The limits that can change while the engine runs.
    let limits: Locked<Engine.Limits>
    let store: Store
    let locations: Locations
    let client: CurlClient
    let sessionHolds = SessionHolds()
    let connections: HostConnections
    let gates: HostGates
    /// When the gates were read last that other services of the database have stored.
    let lastReadOfHosts = Locked(Date(timeIntervalSince1970: 0))
    let checksumFiles = ChecksumFiles()
    let active: ActiveAttempts
    let received = ReceivedBytes()
    /// The failures of all writes together, because an outage of the database fails those of all jobs.
    let failedWrites = Locked(RepeatedFailures())
    let measurements = EngineMeasurements()
    /// Set when the retention of the journal has changed.
    let journalRetention = AsyncAutoResetEvent()
    /// Set when the retention of finished jobs has changed.
    let finishedRetention = AsyncAutoResetEvent()
    /// Set when this service has taken over jobs whose files were being promoted.
    let takenPromotions = AsyncAutoResetEvent()
    let stop = StopRequest()
    let log: Logger

    var time: ServiceClock { store.time }

    /// - Parameter connections: nil: those with the limits of the options.
    init(
        options: Engine.Options = Engine.Options(), store: Store, locations: Locations, client: CurlClient,
        connections: HostConnections? = nil, log: Logger
    ) {
        self.options = options
        limits = Locked(options.limits)
        self.store = store
        self.locations = locations
        self.client = client
        self.connections =
            connections
            ?? HostConnections(
                limit: options.limits.connectionsPerHost, maxAdditional: options.limits.additionalConnections,
                rules: options.limits.hostRules, areClaimed: store.sharesDatabase, onRoom: { store.work(.jobs).set() })
        gates = HostGates(
            rules: options.limits.hostRules, time: store.time, areShared: store.sharesDatabase,
            onOpen: { store.work(.jobs).set() })
        active = ActiveAttempts(
            serviceLimit: RateLimit(bytesPerSecond: options.limits.rate), connections: self.connections, gates: gates)
        self.log = log
        if options.closesParts { for location in locations.all { location.folder.closeParts() } }
    }

    /// Commits how the transfer of an attempt begins. If the transfer restarts, the file of the job's part is removed.
    ///
    /// - Parameter dropped: the part that this attempt discarded.
    func beginTransfer(of job: Job, _ outcome: ResumeOutcome, without dropped: PartID? = nil) async throws(NotStored) {
        try await persist("the beginning of \(job.id)'s transfer") {
            try await store.beginTransfer(of: job, outcome, without: dropped)
        }
        if case .restarted = outcome, let part = job.part { await removeParts([part.id]) }
    }

    /// Repeats a write until it succeeds, because to give up on a full or failing disk would lose the change.
    ///
    /// - Returns: nil when the job no longer exists.
    /// - Throws: `NotStored` when the engine stops before the write succeeds, or when other services have taken over the
    ///   jobs. The caller must then omit every step that depends on the write.
    @discardableResult
    func persist<Value: Sendable>(
        _ what: String, _ write: @Sendable () async throws -> Value
    ) async throws(NotStored) -> Value? {
        var hasFailed = false
        while true {
            do {
                let value = try await write()
                if hasFailed, failedWrites.withLock({ $0.end() }) { log.notice("fetchd has stored \(what).") }
                return value
            } catch StoreError.noSuchJob {
                return nil
            } catch let error as StoreError where error.isLossOfNode {
                // Another service or the next process has the job, so nothing is lost.
                throw NotStored()
            } catch {
                hasFailed = true
                logFailure(of: what, error)
            }
            guard await stop.pauseBeforeRepeating(by: time) else {
                log.error("fetchd stops and gives up storing \(what).")
                store.unstored.note()
                throw NotStored()
            }
        }
    }

    private func logFailure(of what: String, _ error: any Error) {
        guard let count = failedWrites.withLock({ $0.note(at: time.uptime) }) else { return }
        log.error(
            "Could not store \(what): \(error) fetchd tries again until it stops.\(RepeatedFailures.suffix(count))")
    }
}

/// The engine stopped before the disk accepted a change. The database keeps its earlier state, and the next start
/// continues from that state.
struct NotStored: Error {}

/// The request to stop the engine. A write that the disk refuses is repeated while the engine runs, and for two seconds
/// after this request.
final class StopRequest: Sendable {
    private let moment = Locked<ContinuousClock.Instant?>(nil)
    private let requested = Latch()
    private let cancellations = Locked<[UUID: @Sendable () -> Void]>([:])

    var isMade: Bool { moment.withLock { $0 != nil } }

    /// Only the first request counts.
    func make() {
        moment.withLock { $0 = $0 ?? .now }
        requested.open()
        for cancel in cancellations.withLock({ Array($0.values) }) { cancel() }
    }

    /// Does work that the request to stop cancels.
    func cancelling<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let (task, number) = (Task { await work() }, UUID())
        cancellations.withLock { $0[number] = { task.cancel() } }
        if isMade { task.cancel() }
        defer { cancellations.withLock { $0[number] = nil } }
        return await task.value
    }

    /// Returns after the request was made. Cancelling the task has no effect.
    func wait() async { await requested.wait() }

    /// Waits before a failed write is repeated.
    ///
    /// - Returns: false when the write must not be repeated: the engine has been stopping for two seconds, or the task
    ///   was cancelled.
    func pauseBeforeRepeating(by time: any TimeSource) async -> Bool {
        let made = moment.withLock { $0 }
        if let made, ContinuousClock.now - made >= .seconds(2) { return false }
        do { try await time.sleep(until: time.now.addingTimeInterval(made == nil ? 1 : 0.2)) } catch { return false }
        return true
    }
}
