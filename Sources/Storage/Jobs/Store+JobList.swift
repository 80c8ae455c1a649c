import Downloads
import GRDB

/// Which jobs to list: newest first, from a cursor on.
public struct JobQuery: Sendable {
    public var session: Name?
    public var state: JobState.Name?
    public var tag: String?
    public var limit: Int
    /// The last job of the page before.
    public var before: JobID?

    public init(
        session: Name? = nil, state: JobState.Name? = nil, tag: String? = nil, limit: Int = 100, before: JobID? = nil
    ) {
        self.session = session
        self.state = state
        self.tag = tag
        self.limit = limit
        self.before = before
    }
}

public struct JobPage: Sendable {
    public var jobs: [Job]
    /// Where the next page begins; nil at the end.
    public var next: JobID?
}

extension Store {
    /// Keyset paging on identifiers, which are in commit order: no job that stays is skipped or repeated, whatever is
    /// added or deleted meanwhile.
    public func jobs(_ query: JobQuery) throws(StoreError) -> JobPage {
        let (sql, arguments) = query.statement
        let jobs = try read { db in
            try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments).map(JobRow.job)
        }
        let page = Array(jobs.prefix(query.limit))
        return JobPage(jobs: page, next: jobs.count > page.count ? page.last?.id : nil)
    }
}

extension JobQuery {
    fileprivate var statement: (String, StatementArguments) {
        var conditions: [String] = []
        var arguments: StatementArguments = []
        func demand(_ condition: String, _ value: String) {
            conditions.append(condition)
            arguments += [value]
        }
        if let session { demand("jobs.session = ?", session.text) }
        if let state { demand("jobs.state = ?", state.rawValue) }
        if let tag { demand("EXISTS (SELECT 1 FROM job_tags WHERE tag = ? AND job = jobs.id)", tag) }
        if let before { demand("jobs.id < ?", before.text) }
        arguments += [limit + 1]
        let condition = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND ")) "
        return (JobRow.select + condition + "ORDER BY jobs.id DESC LIMIT ?", arguments)
    }
}
