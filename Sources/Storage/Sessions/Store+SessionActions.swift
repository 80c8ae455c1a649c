import Downloads

/// Applies one action to all jobs of a session.
extension Store {
    /// Applies a signal to the outstanding jobs of a session, one step at a time, so that a large session does not block
    /// other writes. It reaches the jobs that exist when the step with their identifiers runs.
    ///
    /// - Parameters:
    ///   - after: the `next` of the previous step; nil for the first step.
    ///   - onCommit: see `Writer.write`.
    /// - Throws: `noSuchSession`.
    public func apply(
        _ signal: JobSignal, toJobsOf session: Name, after: JobID?, limit: Int = 500,
        onCommit: @escaping @Sendable (SessionActionStep) -> Void
    ) async throws -> SessionActionStep {
        try await writer.write(onCommit: onCommit) {
            try $0.applySignal(signal, toJobsOf: session, after: after, limit: limit)
        }
    }
}
