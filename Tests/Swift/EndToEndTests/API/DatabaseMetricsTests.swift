import TestKit
import Testing

/// `GET /metrics`: the work of the database.
@Suite struct DatabaseMetricsTests {
    @Test func countsStatementsAndCommitsOfASubmission() async throws {
        let scene = try await Scene()
        let statements = try #require(try await scene.api.metric("fetchd_database_statements_total"))
        let commits = try #require(try await scene.api.metric("fetchd_database_commits_total"))
        _ = try await scene.job(in: .succeeded)
        let later = try #require(try await scene.api.metric("fetchd_database_commits_total"))
        // The submission, the start and the end of the job.
        #expect(later >= commits + 3)
        let run = try #require(try await scene.api.metric("fetchd_database_statements_total"))
        #expect(run - statements > later - commits)
    }
}
