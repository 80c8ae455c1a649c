import Downloads

/// A job as it is committed, in the cache. Every commit that changes the job replaces the object, so what was derived from
/// it is current as long as the cache has the same object.
public final class CachedJob: Sendable {
    public let job: Job

    init(_ job: Job) { self.job = job }
}
