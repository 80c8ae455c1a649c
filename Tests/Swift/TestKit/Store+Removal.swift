import Downloads
import Foundation
import Storage

extension Store {
    /// Removes events under a retention that does not change.
    public func pruneEvents(keeping retention: Retention, limit: Int = 500) async throws -> Bool {
        try await pruneEvents(keeping: { retention }, limit: limit)
    }

    /// Removes parts under limits that do not change.
    public func expireParts(
        over bytes: Int64?, keeping count: Int? = nil
    ) async throws -> (dropped: [PartID], next: Date?) {
        try await expireParts { PartLimits(bytes: bytes, count: count) }
    }
}
