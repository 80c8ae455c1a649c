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
        let removals = try await services.store.removals()
        guard !removals.isEmpty else { return nil }
        let removed = try await services.lanes.metadata.run { [folder = services.folder, log = services.log] in
            removals.filter { removal in
                do throws(DiskError) {
                    try folder.remove(removal.subject)
                    return true
                } catch {
                    log.warning("Could not \(error.action): \(error.reason). fetchd tries again in a minute.")
                    return false
                }
            }
        }
        try await services.store.forget(removed)
        return services.time.now.addingTimeInterval(removed.isEmpty ? Self.retryInterval : 0)
    }

    private static let retryInterval: TimeInterval = 60
}

extension DownloadsFolder {
    fileprivate func remove(_ subject: Removal.Subject) throws(DiskError) {
        switch subject {
        case .file(let file): try removeFile(file)
        case .part(let id):
            let code = remove(FolderEntry(id.fileName, in: parts))
            guard code == 0 || code == ENOENT else { throw DiskError("remove the part", code: code) }
        }
    }
}
