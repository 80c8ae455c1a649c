import Downloads

/// A job with the specification that its attempt uses.
public struct AdmittedJob: Sendable {
    public var job: Job
    public var spec: ResolvedSpec
}
