import Downloads

public struct JobPage: Sendable {
    /// The jobs, each as the object that the cache has if the job is cached.
    public var cached: [CachedJob]
    /// The cursor of the next page; nil at the end.
    public var next: JobID?

    public var jobs: [Job] { cached.map(\.job) }
}
