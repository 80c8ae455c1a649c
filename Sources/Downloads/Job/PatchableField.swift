/// What a PATCH may name.
public enum PatchableField: String, Sendable, CaseIterable {
    case url, headers, credentials, priority, connections, metadata, deadline, destination
    case rateLimit = "rate_limit_bytes_per_second"
    case notBefore = "not_before"
    case waitFor = "wait_for"
}

extension Set<PatchableField> {
    /// What jobs may have waited for.
    public var help: Set<WaitFor> {
        var help: Set<WaitFor> = []
        if contains(.url) { help.insert(.url) }
        if contains(.credentials) || contains(.headers) { help.insert(.credentials) }
        return help
    }
}

extension JobState {
    /// Whether a field may still be changed: nothing but `metadata` once the file is there, and no other place for it
    /// once it is on its way. What a failed or cancelled job is told is for its next run.
    public func lets(_ field: PatchableField) -> Bool {
        switch self {
        case .succeeded: field == .metadata
        case .running(.promoting): field != .destination
        case .queued, .running(.attempting), .waiting, .paused, .failed, .cancelled: true
        }
    }
}
