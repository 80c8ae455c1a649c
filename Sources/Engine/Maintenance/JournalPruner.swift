import Downloads
import Foundation
import Storage

/// Removes what the journal need not remember any longer, a step at a time, so that no request waits for it.
struct JournalPruner: Sendable {
    let services: EngineServices
    let retention: Retention

    func run() async {
        while !Task.isCancelled {
            do {
                try await prune()
            } catch {
                services.log.error("Could not prune the journal: \(error). Trying again later.")
            }
            try? await services.time.sleep(until: services.time.now.addingTimeInterval(interval))
        }
    }

    /// Seconds between rounds.
    private var interval: TimeInterval { min(max(retention.acknowledged / 10, 1), 3600) }

    private func prune() async throws {
        while try await services.store.pruneEvents(keeping: retention), !Task.isCancelled {}
        while try await services.store.pruneIdempotencyKeys(), !Task.isCancelled {}
    }
}
