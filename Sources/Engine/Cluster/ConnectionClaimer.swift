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
        guard services.store.node != nil, let claims = services.connections.takeClaims() else { return nil }
        let granted = try await services.store.claimConnections(claims.used, wanted: claims.wanted, limits())
        services.connections.grant(granted)
        return nil
    }
}
