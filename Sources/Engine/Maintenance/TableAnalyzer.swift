import Foundation
import Storage

/// Keeps the statistics of a PostgreSQL database as new as its tables. SQLite needs none: its statements name their indexes.
struct TableAnalyzer: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two looks.
    let interval: TimeInterval

    let purpose = "analyze the tables of the database"
    let isOfLeader = true

    func pass() async throws -> Date? {
        guard services.store.node != nil else { return nil }
        try await services.store.analyzeGrownTables()
        return services.time.now.addingTimeInterval(interval)
    }
}
