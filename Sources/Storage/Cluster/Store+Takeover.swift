import Downloads

/// What a node has taken over from others.
public struct Takeover: Sendable {
    /// The numbers of the nodes whose leases had ended.
    public var nodes: [Int64] = []
    /// Jobs that are queued again.
    public var queued = 0
    /// Jobs whose files were being promoted. This node continues that: see `Store.ownPromotions`.
    public var promoting = 0
    /// Whether this node leads from now on.
    public var leads = false
    /// Whether nothing is left to take over.
    public var isComplete = true
}

extension Store {
    /// Takes over the work of nodes whose leases have ended, and leads if no node does. Call it again until it is complete, and only
    /// while the workers of the leader run.
    public func takeOverNodes() async throws -> Takeover {
        guard node != nil else { return Takeover() }
        let noteLead = { @Sendable [engine] (takeover: Takeover) in if takeover.leads { engine.noteLead() } }
        return try await writer.write(onCommit: noteLead) { [engine, sharesDownloads = options.node.sharesDownloads] in
            // The write may have waited long.
            try $0.takeOverNodes(at: engine.takeoverTime, sharesDownloads: sharesDownloads, limit: 500)
        }
    }

    /// The jobs that are being promoted, and that belong to this node.
    ///
    /// - Parameter isIncluded: called on the writer's thread, between the commits of this node.
    public func ownPromotions(
        where isIncluded: @escaping @Sendable (JobID) -> Bool = { _ in true }
    ) async throws -> [AdmittedJob] {
        guard node != nil else { return [] }
        return try await writer.write { try $0.ownPromotions().filter { isIncluded($0.job.id) } }
    }
}
