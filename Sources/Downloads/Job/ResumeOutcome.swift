/// How an attempt began: on nothing, on the bytes had before, or on nothing although there were some.
public enum ResumeOutcome: Sendable, Equatable {
    case fresh
    /// - `why`: why on fewer bytes than were received; nil: on all of them.
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
        /// Bytes were written and could not be synced: what was promised before is all that is believed.
        case syncFailed = "sync_failed"
    }
}
