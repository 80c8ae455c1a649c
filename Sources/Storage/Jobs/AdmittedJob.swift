import Downloads

/// A job with everything an attempt goes by.
public struct AdmittedJob: Sendable {
    public var job: Job
    public var spec: ResolvedSpec
}
