import Downloads

/// How a client waits for a change of a job, or for its end.
///
/// A request with a version is answered as soon as the job has another version, in any state. A request without a
/// version is answered at the next change; it is answered at once for a job that has ended, because the client may have
/// missed its last change. A request with `until=ended` is answered when the job has ended. Changes before the end do not answer it.
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
    private let isForEnd: Bool

    /// - Parameters:
    ///   - first: the version at the beginning of the wait.
    ///   - isForEnd: whether the client waits for the end of the job.
    init(knowing versions: KnownVersions?, first: JobETag, isTerminal: Bool, isForEnd: Bool = false) {
        self.versions = versions
        self.isForEnd = isForEnd
        known = versions ?? .tags(isTerminal ? [] : [first])
    }

    /// - Parameters:
    ///   - isTerminal: whether the job has ended.
    ///   - isLast: whether the wait is over.
    func verdict(on tag: JobETag, isTerminal: Bool, isLast: Bool) -> Verdict {
        if isForEnd {
            guard isTerminal || isLast else { return .keepWaiting }
            return versions?.include(tag) == true ? .notModified : .document
        }
        // `*` matches every version, so no change can end this wait.
        if case .any? = versions { return .notModified }
        guard known.include(tag) else { return .document }
        guard isLast else { return .keepWaiting }
        return versions == nil ? .document : .notModified
    }
}
