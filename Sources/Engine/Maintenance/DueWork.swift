import Base
import Downloads
import Foundation
import Storage

/// The passes of the workers that do what has become due to batches, jobs, parts and sessions.
extension EngineServices {
    /// Finishes batches that are due, also those that became due while fetchd did not run.
    func finishBatches() async throws -> Date? {
        for batch in try await store.finishDueBatches() {
            log.info(
                "Batch \(batch.number) of session \(batch.session) finished: \(batch.outcome.rawValue).",
                metadata: ["session": "\(batch.session)", "batch": .stringConvertible(batch.number)])
        }
        return try await store.nextBatchDue()
    }

    /// Fails the jobs whose `deadline` or `timeouts.resource_seconds` has passed, in any state that is not final, and stops
    /// their attempts.
    func failOverdueJobs() async throws -> Date? {
        let latest = time.now.addingTimeInterval(Store.longestPollInterval)
        let next = try await store.failOverdueJobs { [active] outcomes in
            for outcome in outcomes { active.requestStop(asDecided: outcome) }
        }.next
        return min(next ?? latest, latest)
    }

    /// Removes resume data that has expired or exceeds a limit. The offset in the database is removed before the part
    /// file, so that no stored offset is left without its bytes.
    func expireParts() async throws -> Date? {
        let (dropped, next) = try await store.expireParts { [limits] in
            let storage = limits.withLock(\.storage)
            return PartLimits(bytes: storage.maxResumeDataBytes, count: storage.maxParts)
        }
        await removeParts(dropped)
        if !dropped.isEmpty { log.info("Resume data removed: \(dropped.count) parts.") }
        return next
    }

    /// Removes deleted sessions when all of their jobs and deliveries are settled, with the parts of their jobs. Finished
    /// files stay. A session that an action holds stays; the end of the action starts the next pass.
    func closeSessions() async throws {
        while true {
            let steps = try await store.removeSettledSessions { [sessionHolds] in sessionHolds.sessions }
            for step in steps {
                await removeParts(step.dropped)
                if step.isGone { log.info("Session \(step.session) is settled and removed.") }
            }
            if steps.isEmpty { return }
        }
    }
}

/// Logs one warning for each finish whose acknowledgement is awaited and does not come in time: the downloads are done, but
/// no program has taken the files. It corresponds to a completion handler of a background URLSession that is never called.
extension EngineServices {
    /// The database knows the finishes with a warning, so a restart does not repeat it.
    func warnOfUnacknowledgedFinishes() async throws -> Date? {
        let patience = options.acknowledgementPatience
        while true {
            let waiting = try await store.unreportedFinishes()
            let overdue = Array(waiting.prefix { time.now.timeIntervalSince($0.agingSince) >= patience })
            for finish in try await store.reportFinishes(overdue) { warn(finish) }
            if overdue.isEmpty || overdue.count < waiting.count {
                // A finish that is stored after this pass becomes overdue `patience` later at the earliest.
                let oldest = waiting.dropFirst(overdue.count).first?.agingSince ?? time.now
                return max(oldest.addingTimeInterval(patience), time.now.addingTimeInterval(1))
            }
        }
    }

    private func warn(_ finish: UnacknowledgedFinish) {
        log.warning(
            """
            The finish of batch \(finish.batch) of session \(finish.session) (event \(finish.event)) was never \
            acknowledged since \(finish.since.rfc3339). Not every webhook that receives the event has accepted it, and no \
            client has called POST /v1/sessions/\(finish.session)/acknowledge. If no program acknowledges the finishes of \
            this session, set its acknowledgement to "none".
            """)
    }
}
