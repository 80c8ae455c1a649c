import Foundation
import Storage

/// Stores the bytes that arrived in each minute, so that a restart keeps the history. A minute without bytes costs no commit.
/// The bytes since the last pass are lost when the process ends.
struct ThroughputRecorder: MaintenanceWorker {
    let services: EngineServices
    /// The bytes since the start that are stored.
    private var stored: Int64 = 0

    init(services: EngineServices) { self.services = services }

    let purpose = "store the throughput"

    mutating func pass() async throws -> Date? {
        let (now, received) = (services.time.now, services.received.bytes)
        if received > stored {
            // A pass begins directly after the minute in which the bytes arrived.
            try await services.store.addThroughput(received - stored, at: now.addingTimeInterval(-Self.minute))
            stored = received
        }
        let minutes = (now.timeIntervalSince1970 / Self.minute).rounded(.down)
        return Date(timeIntervalSince1970: (minutes + 1) * Self.minute)
    }

    private static let minute: TimeInterval = 60
}
