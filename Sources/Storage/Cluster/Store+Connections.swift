extension Store {
    /// Claims additional connections of this node, so that the limits of hosts hold over all nodes.
    ///
    /// - Parameters:
    ///   - used: the connections that exist. Earlier claims beyond them are given back.
    ///   - wanted: connections to be opened.
    ///   - limits: see `admitJobs`.
    /// - Returns: the connections that may exist from now on.
    public func claimConnections(
        _ used: [AdmissionLimits.Taken], wanted: [AdmissionLimits.Taken],
        _ limits: @escaping @Sendable () -> AdmissionLimits
    ) async throws -> [AdmissionLimits.Taken] {
        try await writer.write { try $0.claimConnections(used, wanted: wanted, limits()) }
    }
}
