import Downloads

/// A job as it is committed, in the cache. Every commit that changes the job replaces the object, so what was derived from
/// it is current as long as the cache has the same object.
public final class CachedJob: Sendable {
    public let job: Job

    /// Bytes of its large members.
    let size: Int

    init(_ job: Job) { (self.job, size) = (job, job.spec.size) }
}
