import Downloads

public struct JobPage: Sendable {
    public var jobs: [Job]
    /// Where the next page begins; nil at the end.
    public var next: JobID?
}
