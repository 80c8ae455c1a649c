/// The fields that a PATCH may change.
public enum PatchableField: String, Sendable, CaseIterable {
    case url, headers, credentials, priority, connections, metadata, deadline, destination
    case rateLimit = "rate_limit_bytes_per_second"
    case notBefore = "not_before"
    case waitFor = "wait_for"
}

extension Set<PatchableField> {
    /// The kinds of help that these fields give to waiting jobs.
    public var help: Set<Help> {
        var help: Set<Help> = []
        if contains(.url) { help.insert(.url) }
        if contains(.credentials) || contains(.headers) { help.insert(.credentials) }
        return help
    }
}

extension JobState {
    /// Whether a PATCH may still change the field. A succeeded job allows only `metadata`, and a promotion fixes the
    /// destination. A failed or cancelled job uses the new values in its next run.
    public func lets(_ field: PatchableField) -> Bool {
        switch self {
        case .succeeded: field == .metadata
        case .running(.promoting): field != .destination
        case .queued, .running(.attempting), .waiting, .paused, .failed, .cancelled: true
        }
    }
}
