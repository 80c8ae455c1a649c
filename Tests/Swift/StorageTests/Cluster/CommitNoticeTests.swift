import Downloads
import Testing

@testable import Storage

struct CommitNoticeTests {
    @Test(arguments: [
        CommitNotice(), CommitNotice(work: Set(WorkKind.allCases)),
        CommitNotice(work: [.jobs], jobs: .these([JobID("job_a"), JobID("job_b")])), CommitNotice(jobs: .any),
    ])
    func isReadAsItWasWritten(_ notice: CommitNotice) throws {
        let parsed = try #require(CommitNotice.parse(notice.text(at: 17, of: 2)))
        #expect(parsed.position == 17 && parsed.node == 2 && parsed.notice == notice)
    }

    @Test func manyJobsAreAnyJob() throws {
        let jobs = Set((0..<1000).map { JobID("job_01ARZ3NDEKTSV4RRFFQ69G\($0)") })
        let text = CommitNotice(jobs: .these(jobs)).text(at: 17, of: 2)
        // The payload of a notification of PostgreSQL has less than 8,000 bytes.
        #expect(text.utf8.count < 8000)
        #expect(try #require(CommitNotice.parse(text)).notice.jobs == .any)
    }

    @Test func kindsOfWorkHaveDifferentLetters() {
        #expect(WorkKind.allCases.allSatisfy { $0.rawValue.count == 1 })
        #expect(Set(WorkKind.allCases.map(\.rawValue)).count == WorkKind.allCases.count)
    }

    @Test(arguments: ["", "1 2 j", "x 1 j *", "1 x j *", "1 2 3 4 5"])
    func otherTextsAreNoNotices(_ text: String) { #expect(CommitNotice.parse(text) == nil) }
}
