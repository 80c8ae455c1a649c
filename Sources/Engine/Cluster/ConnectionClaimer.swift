import Foundation
import Locks
import Storage

/// Claims the additional connections of this node in the database, before they are opened, and gives them back.
struct ConnectionClaimer: MaintenanceWorker {
    let services: EngineServices
    /// The present limits, without the connections that are taken.
    let limits: @Sendable () -> AdmissionLimits

    let purpose = "claim additional connections"
    var trigger: AsyncAutoResetEvent? { services.connections.claimsDue }

    func pass() async throws -> Date? {
        guard services.store.node != nil else { return nil }
        if let claims = services.connections.takeClaims() {
            // If the write fails, the callers want their connections again.
            let granted = try await services.store.claimConnections(claims.used, wanted: claims.wanted, limits)
            services.connections.grant(granted)
        }
        return services.connections.hasSurplus ? services.time.now.addingTimeInterval(Self.giveBackInterval) : nil
    }

    /// Seconds after which connections that are not used are given back.
    private static let giveBackInterval: TimeInterval = 1
}
