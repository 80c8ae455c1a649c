import Downloads
import Foundation
import Locks
import Storage

/// Continues the promotions that this node has taken over from another one.
///
/// It finds them in the store: jobs that are being promoted at this node without an attempt. So none is forgotten if the answer to
/// the commit of a takeover is lost.
struct PromotionRecovery: MaintenanceWorker {
    let services: EngineServices
    let active: ActiveAttempts
    let promoter: Promoter

    let purpose = "continue the promotions of a node that has ended"
    var trigger: AsyncAutoResetEvent? { services.takenPromotions }

    func pass() async throws -> Date? {
        let left = try await services.store.ownPromotions { [active] in active[$0] == nil }
        await promoter.complete(left, services)
        return nil
    }
}
