import Downloads

/// How a client waits for a change of a job.
///
/// A request with a version is answered as soon as the job has another version, in any state. A request without a
/// version is answered at the next change; it is answered at once for a job that has ended, because the client may have
/// missed its last change.
struct JobWait: Sendable {
    enum Verdict: Equatable {
        case document, notModified, keepWaiting
    }

    /// Determines the reply: one tag stands for one document of each audience.
    struct Key: Hashable, Sendable {
        let job: JobID
        let audience: Job.Audience
        let tag: JobETag
        let seconds: Int
        let isModified: Bool
    }

    /// The versions of the request; nil if it has none.
    private let versions: KnownVersions?
    /// The versions that do not end the wait.
    private let known: KnownVersions

    /// - Parameter first: the version at the beginning of the wait.
    init(knowing versions: KnownVersions?, first: JobETag, isTerminal: Bool) {
        self.versions = versions
        known = versions ?? .tags(isTerminal ? [] : [first])
    }

    /// - Parameter isLast: whether the wait is over.
    func verdict(on tag: JobETag, isLast: Bool) -> Verdict {
        // `*` matches every version, so no change can end this wait.
        if case .any? = versions { return .notModified }
        guard known.include(tag) else { return .document }
        guard isLast else { return .keepWaiting }
        return versions == nil ? .document : .notModified
    }
}
