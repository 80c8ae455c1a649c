import Base
import Downloads
import Foundation
import Storage

/// The passes of the workers that keep the database small and right.
extension EngineServices {
    /// Removes events, idempotency keys, counts of bytes and audit entries that are older than the retention, in small
    /// steps, so that requests do not wait for the removal.
    func pruneJournal() async throws -> Date? {
        // Each step has the present retention, which a client can change.
        let presentRetention: @Sendable () -> Retention = { [limits] in limits.withLock(\.storage.retention) }
        while try await store.pruneEvents(keeping: presentRetention), !Task.isCancelled {}
        while try await store.pruneIdempotencyKeys(), !Task.isCancelled {}
        try await store.pruneTokenBytes()
        while try await store.pruneAudit(), !Task.isCancelled {}
        return nextPruning(after: presentRetention().acknowledged)
    }

    /// A tenth of the retention later, at least 1 second, at most 1 hour.
    func nextPruning(after retention: TimeInterval) -> Date {
        time.now.addingTimeInterval(min(max(retention / 10, 1), 3600))
    }

    /// Compares the counts that the store keeps with a full count, and corrects them. A difference is a fault of fetchd,
    /// so it is logged as an error.
    func checkCounts() async throws {
        for drift in try await store.checkCounts() {
            log.error("The kept counts were wrong, and fetchd has corrected them. \(drift)")
        }
    }

    /// Makes the database file smaller after the removal of many rows. A file with much data stays as it is, because its
    /// rewriting would delay requests: `fetchd compact` rewrites it while the service is stopped.
    func reclaimSpace() async throws {
        // Writes wait for less than a second while this many bytes in use are copied.
        if let before = try await store.reclaimSpace(copyingAtMost: 64 << 20), let after = try await store.space() {
            log.info("The database file has become smaller: \(before.size) bytes before, \(after.size) now.")
        }
    }

    /// Stores the bytes that arrived in each minute, so that a restart keeps the history. A minute without bytes costs no
    /// commit. The bytes since the last pass are lost when the process ends.
    func storeThroughput() async throws -> Date? {
        let (now, minute) = (time.now, 60.0)
        let new = received.unstored
        if new > 0 {
            // A pass begins directly after the minute in which the bytes arrived.
            try await store.addThroughput(new, at: now.addingTimeInterval(-minute))
            received.recordStored(new)
        }
        return Date(timeIntervalSince1970: ((now.timeIntervalSince1970 / minute).rounded(.down) + 1) * minute)
    }

    /// Follows the wall clock after a jump, also while nothing else is committed, and logs each jump. Then it waits for the next.
    func followClock() async throws -> Date? {
        try await noteClock()
        await time.wait(every: .seconds(5), until: store.clockIsDue)
        return time.now
    }

    func noteClock() async throws {
        try await store.followClock()
        for jump in time.consumeJumps() {
            let moment = jump.isAtStart ? ", since the service last stored the time" : ""
            let judgement =
                jump.by > 0 ? ", and not_before and deadline of earlier jobs are also judged by the previous clock" : ""
            log.warning(
                """
                The clock has jumped \(jump)\(moment). Retries, finishes, deliveries and time limits keep their \
                remaining time. For an hour no data is removed because of its age\(judgement).
                """)
        }
    }
}
