import Downloads
import Formats
import Foundation

/// The jobs that an action on many reaches. The store reads them in steps, the newest first, so that jobs that are created
/// meanwhile are not among them.
public enum JobSelection: Sendable, Equatable {
    /// Each of these, in this order.
    case jobs([JobID])
    case matching(JobFilter)

    /// Whether the job is selected in its present state. It may have changed since it was read.
    public func contains(_ job: Job) -> Bool {
        switch self {
        case .jobs: true
        case .matching(let filter): filter.matches(job)
        }
    }
}

/// Conditions that a job must all meet. Without any, it selects all jobs.
public struct JobFilter: Sendable, Equatable {
    public var session: Name?
    public var state: JobState.Kind?
    public var tag: String?
    /// A part of the URL, the name, the path, the session or a tag, in any case.
    public var text: String?
    public var endedBefore: Date?
    /// Where the next step continues: below this job.
    fileprivate var position: JobID?

    public init(
        session: Name? = nil, state: JobState.Kind? = nil, tag: String? = nil, text: String? = nil,
        endedBefore: Date? = nil
    ) {
        self.session = session
        self.state = state
        self.tag = tag
        self.endedBefore = endedBefore
        self.text = text?.lowercased()
    }

    func matches(_ job: Job) -> Bool {
        if let session, job.session != session { return false }
        if let state, job.state.name != state { return false }
        if let tag, !job.spec.tags.contains(tag) { return false }
        if let endedBefore, job.finishedAt.map({ $0 >= endedBefore }) ?? true { return false }
        return text.map(job.hasText) ?? true
    }

    /// The conditions that an index can answer.
    fileprivate func query(_ visible: VisibleSessions, limit: Int) -> JobQuery {
        var query = JobQuery(session: session, state: state, tag: tag, limit: limit, before: position ?? latestPosition)
        query.visible = visible
        return query
    }

    /// A job ends after its creation, and its identifier begins with the time of its creation.
    private var latestPosition: JobID? { endedBefore.map { .make(.lowest(at: max($0, Date(milliseconds: 0)))) } }
}

extension Job {
    /// - Parameter text: in lower case.
    fileprivate func hasText(_ text: String) -> Bool {
        let texts =
            [spec.url, spec.destination.filename ?? "", state.finish?.file.path ?? "", session.text] + spec.tags
        return texts.contains { $0.lowercased().contains(text) }
    }
}

extension JobSelection {
    public struct Step: Sendable {
        public var jobs: [Job]
        /// Identifiers of jobs that do not exist, or that the caller may not see.
        public var missing: [JobID] = []
        /// The jobs that follow; nil if these are the last.
        public var rest: JobSelection?
    }

    fileprivate func step(
        _ visible: VisibleSessions, _ limit: Int, in db: SQLConnection, _ sealer: Sealer
    ) throws -> Step {
        switch self {
        case .jobs(let ids):
            let read = Array(ids.prefix(limit))
            let jobs = try JobRow.jobs(read, in: db, sealer).filter { visible.contain($0.session) }
            let found = Dictionary(jobs.map { ($0.id, $0) }) { $1 }
            return Step(
                jobs: read.compactMap { found[$0] }, missing: read.filter { found[$0] == nil },
                rest: ids.count > limit ? .jobs(Array(ids.dropFirst(limit))) : nil)
        case .matching(var filter):
            let page = try filter.query(visible, limit: limit).page(in: db, sealer)
            filter.position = page.next
            return Step(jobs: page.jobs.filter(filter.matches), rest: page.next == nil ? nil : .matching(filter))
        }
    }
}

extension Store {
    /// Reads the first jobs of a selection, at most `limit`. Fewer of them may be selected.
    public func jobs(
        in selection: JobSelection, visible: VisibleSessions, limit: Int = 1000
    ) async throws(StoreError) -> JobSelection.Step {
        try await read { [sealer] in try selection.step(visible, limit, in: $0, sealer) }
    }
}
