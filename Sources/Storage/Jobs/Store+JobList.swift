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
    fileprivate var statement: (String, StatementArguments) {
        var conditions: [String] = []
        var arguments: StatementArguments = []
        func addCondition(_ condition: String, _ value: String) {
            conditions.append(condition)
            arguments += [value]
        }
        if let session { addCondition("jobs.session = ?", session.text) }
        if let state { addCondition("jobs.state = ?", state.rawValue) }
        if let tag { addCondition("EXISTS (SELECT 1 FROM job_tags WHERE tag = ? AND job = jobs.id)", tag) }
        if let before { addCondition("jobs.id < ?", before.text) }
        arguments += [limit + 1]
        let condition = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND ")) "
        return (JobRow.select + condition + "ORDER BY jobs.id DESC LIMIT ?", arguments)
    }
}
