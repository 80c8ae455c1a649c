import Downloads
import Formats
import Foundation

/// Fails jobs whose deadline or resource time has passed.
extension Store {
    /// Applies `timeElapsed` to overdue jobs. The engine stops the attempts of those that are running.
    ///
    /// - Parameter onCommit: see `Writer.write`.
    /// - Returns: the outcomes, and the time of the next deadline.
    public func failOverdueJobs(
        limit: Int = 500, onCommit: @escaping @Sendable ([SignalOutcome]) -> Void
    ) async throws -> (outcomes: [SignalOutcome], next: Date?) {
        let now = time.now.milliseconds
        let next = try await read { db in
            try db.value("SELECT min(fails_at) FROM jobs WHERE fails_at IS NOT NULL", as: Int64.self)
        }
        guard let next, next <= now else { return ([], next.map(Date.init(milliseconds:))) }
        let outcomes = try await writer.write(onCommit: onCommit) { try $0.failOverdueJobs(limit) }
        // While the clock is in doubt, all remaining jobs may be in doubt.
        if outcomes.isEmpty { return ([], nil) }
        // More jobs may be overdue than `limit`. Jobs that are stopping stay overdue until they have stopped.
        let hasFailedAny = outcomes.contains { $0.job.state.name == .failed }
        return (outcomes, time.now.addingTimeInterval(hasFailedAny ? 0 : 1))
    }
}
