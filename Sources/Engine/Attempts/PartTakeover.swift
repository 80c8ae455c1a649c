import Downloads

/// The result of copying the part of another node, at the beginning of an attempt.
enum PartTakeover: Sendable {
    /// The job, as the attempt continues it.
    case ready(Job)
    /// The bytes could not be copied.
    case failed(Failure)
    /// The attempt has to stop, or the job belongs to another node.
    case stopped
}
