/// How a transfer began: without earlier bytes (fresh), from earlier bytes (resumed), or at 0 although earlier bytes
/// existed (restarted).
public enum ResumeOutcome: Sendable, Equatable {
    case fresh
    /// `why`: the reason why fewer bytes than were received are used; nil: all are used.
    case resumed(offset: Int64, why: RestartReason? = nil)
    case restarted(RestartReason)

    public enum RestartReason: String, Sendable, CaseIterable {
        case etagChanged = "etag_changed"
        case lastModifiedChanged = "last_modified_changed"
        case sizeChanged = "size_changed"
        case rangeIgnored = "range_ignored"
        case badRange = "bad_range"
        case noValidator = "no_validator"
        case partMissing = "part_missing"
        case partShorterThanRecorded = "part_shorter_than_recorded"
        /// Written bytes could not be synced. Only the bytes that were promised before are used.
        case syncFailed = "sync_failed"
    }
}
