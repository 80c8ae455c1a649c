import API
import Base
import CurlClient
import Engine
import HTTPServer
import HTTPTypes
import Storage

/// What a service needs that shares its database with others.
extension DownloadService {
    /// The service gets its lease when the store opens. With a lease and a disk that hangs, it would keep the jobs of its last
    /// process from the other nodes, and run none of them.
    func waitForDisk() async {
        let warning = Task { [log, options] in
            try await Task.sleep(for: .seconds(5))
            log.warning(
                "The downloads folder \(options.downloadsFolder) does not answer. fetchd waits for it before it becomes a node."
            )
        }
        defer { warning.cancel() }
        await DownloadsFolder.waitForDisk(at: options.downloadsFolder)
    }

    func adviseOnNodes(_ store: Store) async {
        guard let node = store.node, let nodes = try? await store.nodes() else { return }
        for sentence in NodeStatus.advice(on: nodes, for: node.number) { log.warning("\(sentence)") }
    }

    func folderUse(_ store: Store) -> FolderUse {
        FolderUse(
            by: store.node, sharing: options.folderSharing, holdsLease: { store.holdsLease },
            firstNode: { store.firstNode })
    }

    /// nil in a database of one service.
    func remoteFiles(_ store: Store, _ client: CurlClient) -> RemoteFiles? {
        guard let node = store.node else { return nil }
        let use = folderUse(store)
        return RemoteFiles(
            own: node.number,
            owner: { job in use.hasFile(of: job) ? nil : use.owner(of: job) },
            url: { try await store.url(ofNode: $0) },
            relay: CurlFileRelay(client, limit: options.maxRelayedFiles).response)
    }
}

extension DownloadService.Options {
    /// What the other nodes learn about this one.
    func describe(_ store: inout Store.Options) {
        store.node.version = version
        store.node.sharesDownloads = folderSharing == .shared
        store.node.slots = start.values.maxConcurrentJobs
    }
}
