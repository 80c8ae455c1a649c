import Downloads

/// A job to be created.
public struct NewJob: Sendable {
    public var session: Name
    public var spec: JobSpec
    /// The job whose part the new job takes over.
    public var resumeFrom: JobID?
    /// Whether the job is paused from the beginning.
    public var isPaused: Bool
    /// The job's identifier in aria2's RPC.
    public var gid: GID?
    /// The place in the queue; nil: at the bottom.
    public var place: QueuePlace?

    public init(
        session: Name, spec: JobSpec, resumeFrom: JobID? = nil, isPaused: Bool = false, gid: GID? = nil,
        place: QueuePlace? = nil
    ) {
        self.session = session
        self.spec = spec
        self.resumeFrom = resumeFrom
        self.isPaused = isPaused
        self.gid = gid
        self.place = place
    }
}
