import Downloads

/// A job that is asked for.
public struct NewJob: Sendable {
    public var session: Name
    public var spec: JobSpec
    /// The job whose bytes it goes on from.
    public var resumeFrom: JobID?

    public init(session: Name, spec: JobSpec, resumeFrom: JobID? = nil) {
        self.session = session
        self.spec = spec
        self.resumeFrom = resumeFrom
    }
}
