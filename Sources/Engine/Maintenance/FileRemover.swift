import Downloads
import Foundation
import Locks
import Storage

/// Removes files from the folder of this node that other nodes have dropped.
struct FileRemover: MaintenanceWorker {
    let services: EngineServices

    let purpose = "remove files that other nodes have dropped"
    var trigger: AsyncAutoResetEvent? { services.store.work(.removals) }

    func pass() async throws -> Date? {
        var (failed, example): (Int, DiskError?) = (0, nil)
        var last: Removal?
        repeat {
            let removals = try await services.store.removals(after: last)
            let faults = try await remove(removals)
            try await services.store.forget(zip(removals, faults).compactMap { $1 == nil ? $0 : nil })
            failed += faults.count { $0 != nil }
            example = example ?? faults.compactMap(\.self).first
            last = removals.last
        } while last != nil && !Task.isCancelled
        guard let example else { return nil }
        services.log.warning(
            "\(failed) files that other nodes have dropped cannot be removed, for example: could not \(example.action): \(example.reason). fetchd tries again in a minute."
        )
        return services.time.now.addingTimeInterval(Self.retryInterval)
    }

    /// - Returns: for each file, why it could not be removed; nil when it is gone.
    private func remove(_ removals: [Removal]) async throws -> [DiskError?] {
        try await services.lanes.metadata.run { [folder = services.folder] in
            removals.map { removal -> DiskError? in
                do throws(DiskError) {
                    try folder.remove(removal.subject)
                    return nil
                } catch {
                    return error
                }
            }
        }
    }

    private static let retryInterval: TimeInterval = 60
}

extension DownloadsFolder {
    fileprivate func remove(_ subject: Removal.Subject) throws(DiskError) {
        switch subject {
        case .file(let file): try removeFile(file)
        case .part(let id):
            let code = removePart(id)
            guard code == 0 || code == ENOENT else { throw DiskError("remove the part", code: code) }
        }
    }
}
