import Downloads

public struct JobPage: Sendable {
    public var jobs: [Job]
    /// The cursor of the next page; nil at the end.
    public var next: JobID?
}
