import Downloads
import Formats
import Foundation
import GRDB

/// Jobs that have run out of time.
extension Store {
    /// Fails them where they are; those under way are to be stopped.
    ///
    /// - Parameter onCommit: see `Writer`.
    /// - Returns: what became of each, and when the next will have run out.
    public func failOverdueJobs(
        limit: Int = 500, onCommit: @escaping @Sendable ([SignalOutcome]) -> Void
    ) async throws -> (outcomes: [SignalOutcome], next: Date?) {
        let now = time.now.milliseconds
        let next = try read { db in
            try Int64.fetchOne(db.cachedStatement(sql: "SELECT min(fails_at) FROM jobs WHERE fails_at IS NOT NULL"))
        }
        guard let next, next <= now else { return ([], next.map(Date.init(milliseconds:))) }
        let outcomes = try await writer.write(onCommit: onCommit) { try $0.failOverdueJobs(limit) }
        // Where the clock is doubted, all that is left may be such.
        if outcomes.isEmpty { return ([], nil) }
        // There may be more where there were many. Those that are stopping keep their limit until they have stopped.
        let hasFailedAny = outcomes.contains { $0.job.state.name == .failed }
        return (outcomes, time.now.addingTimeInterval(hasFailedAny ? 0 : 1))
    }
}
