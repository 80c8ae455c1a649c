import Downloads
import GRDB

extension Store {
    /// Uses keyset paging on identifiers, which are in commit order. Concurrent inserts and deletes don't make a reader
    /// skip or repeat another job.
    public func jobs(_ query: JobQuery) async throws(StoreError) -> JobPage {
        let jobs = try await read { db in
            let (sql, arguments) = query.statement
            return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments).map(JobRow.job)
        }
        let page = Array(jobs.prefix(query.limit))
        return JobPage(jobs: page, next: jobs.count > page.count ? page.last?.id : nil)
    }
}

extension JobQuery {
    /// Each combination of filters walks one index from the cursor on. A condition on the state names the condition of the
    /// partial index for it.
    var statement: (sql: String, arguments: StatementArguments) {
        let position = tag == nil ? "jobs.id" : "job_tags.job"
        var conditions = ["\(position) < ?"]
        // Above every identifier when there is no cursor.
        var arguments: StatementArguments = [before?.text ?? "~"]
        func addCondition(_ condition: String, _ value: String) {
            conditions.append(condition)
            arguments += [value]
        }
        if let tag { addCondition("job_tags.tag = ?", tag) }
        if let session { addCondition(sessionCondition, session.text) }
        switch state {
        case nil: break
        case .running: conditions.append("jobs.state = 'running'")
        case .queued, .waiting, .paused, .succeeded, .failed, .cancelled:
            addCondition("jobs.state <> 'running' AND jobs.state = ?", state?.rawValue ?? "")
        }
        arguments += [limit + 1]
        let select = tag == nil ? JobRow.select : JobRow.selectTagged
        let condition = conditions.joined(separator: " AND ")
        return ("\(select)WHERE \(condition) ORDER BY \(position) DESC LIMIT ?", arguments)
    }

    /// Few jobs run, so a list of them walks those of all sessions: an expression keeps SQLite from the index of all jobs
    /// of the session.
    private var sessionCondition: String {
        if tag != nil { return "job_tags.session = ?" }
        return state == .running ? "coalesce(jobs.session, '') = ?" : "jobs.session = ?"
    }
}
