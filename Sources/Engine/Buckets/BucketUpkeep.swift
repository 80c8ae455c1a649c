import Downloads
import Foundation
import S3Client
import Storage

/// The background work for one bucket.
struct BucketUpkeep: Sendable {
    let services: EngineServices
    let location: Location
    let store: BucketStore
    private var uploads: ObjectUpload { ObjectUpload(services: services, location: location, store: store) }

    /// Seconds between two looks for uploads that no job needs. An attempt that ends without an object asks for one at once.
    private static let interval = 60.0

    /// Continues the promotions that another process had begun.
    func continuePromotions() async throws -> Date? {
        await BucketFinalizer(uploads: uploads).complete(location.endRecovery())
        return nil
    }

    /// Removes from the bucket what jobs have begun that have ended without an object. An upload that is never completed costs money.
    func removeLeftOvers() async throws -> Date? {
        var refused: (any Error)?
        for upload in try await services.store.abandonUploads(in: location.name) {
            do {
                try await uploads.discard(upload)
                services.log.info("Removed what was left of the upload of \(upload.job) to \(upload.key).")
            } catch let error as StorageError {
                refused = error
            }
        }
        // The others are not delayed by one that the bucket refuses.
        if let refused { throw refused }
        return services.time.now.addingTimeInterval(Self.interval)
    }
}
