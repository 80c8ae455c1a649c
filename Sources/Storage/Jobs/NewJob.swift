import Downloads

/// A job to be created.
public struct NewJob: Sendable {
    public var session: Name
    public var spec: JobSpec
    /// The job whose part the new job takes over.
    public var resumeFrom: JobID?

    public init(session: Name, spec: JobSpec, resumeFrom: JobID? = nil) {
        self.session = session
        self.spec = spec
        self.resumeFrom = resumeFrom
    }
}
