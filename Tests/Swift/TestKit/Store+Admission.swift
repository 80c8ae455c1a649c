import Storage

extension Store {
    /// Admits jobs under limits that do not change.
    public func admitJobs(
        _ limits: AdmissionLimits, onCommit: @escaping @Sendable ([AdmittedJob]) -> Void = { _ in }
    ) async throws -> AdmissionRound {
        try await admitJobs({ limits }, onCommit: onCommit)
    }

    /// Claims connections under limits that do not change.
    public func claimConnections(
        _ used: [AdmissionLimits.Taken], wanted: [AdmissionLimits.Taken], _ limits: AdmissionLimits
    ) async throws -> [AdmissionLimits.Taken] {
        try await claimConnections(used, wanted: wanted) { limits }
    }
}
