import Downloads
import Storage

extension Engine {
    /// Parts and files without a node are older than the nodes. They belong to the node whose folder has them, so each node looks
    /// for them at its start until that node is known.
    func findOlderFiles() async throws {
        let store = services.store
        guard store.node != nil, store.firstNode == nil else { return }
        let (parts, files) = try await store.filesWithoutNode()
        let areHere = try await services.lanes.metadata.run { [folder = services.folder] in
            parts.contains { folder.hasFile(of: $0) } || files.contains { folder.openFile($0) != nil }
        }
        // If there are none, no later start needs to look.
        if areHere || parts.isEmpty && files.isEmpty { try await store.becomeFirstNode() }
    }
}
