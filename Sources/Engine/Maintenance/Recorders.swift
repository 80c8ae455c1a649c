import Formats
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

/// Stores in one commit what the requests of an interval have noted in memory: a commit for each request would cost more than
/// the request.
struct NoteRecorder: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two passes.
    let interval: TimeInterval
    let purpose: String
    let store: @Sendable (Store) async throws -> Void

    func pass() async throws -> Date? {
        try await store(services.store)
        return services.time.now.addingTimeInterval(interval)
    }

    static func tokenUses(_ services: EngineServices, interval: TimeInterval) -> NoteRecorder {
        NoteRecorder(services: services, interval: interval, purpose: "store when tokens were last used") {
            try await $0.storeTokenUses()
        }
    }

    /// The refused requests, for the audit log.
    static func refusals(_ services: EngineServices, interval: TimeInterval) -> NoteRecorder {
        NoteRecorder(services: services, interval: interval, purpose: "store refused requests") {
            try await $0.storeRefusals()
        }
    }
}

/// Follows the wall clock after a jump, also while nothing else is committed, and logs each jump.
struct ClockMonitor: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two comparisons of the clocks.
    let interval: TimeInterval

    let purpose = "store the time"

    func pass() async throws -> Date? {
        try await services.store.followClock()
        for jump in services.time.consumeJumps() { services.log.warning("\(Self.warning(of: jump))") }
        return services.time.now.addingTimeInterval(interval)
    }

    private static func warning(of jump: ClockJump) -> String {
        """
        The clock has jumped \(jump)\(jump.isAtStart ? ", since the service last stored the time" : ""). Retries, \
        finishes, deliveries and time limits keep their remaining time. For an hour no data is removed because of its \
        age\(jump.by > 0 ? ", and not_before and deadline of earlier jobs are also judged by the previous clock" : "").
        """
    }
}
