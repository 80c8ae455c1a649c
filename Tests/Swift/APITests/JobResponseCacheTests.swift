import Downloads
import Foundation
import HTTPServer
import Testing

@testable import API
@testable import Storage

/// The list keeps the documents of jobs that have not changed.
@Suite struct JobResponseCacheTests {
    private static func cached(_ id: String, _ state: JobState = .paused, revision: Int = 1) -> CachedJob {
        CachedJob(
            Job(
                id: JobID(id), session: .default, batch: 1, state: state, revision: revision,
                spec: JobSpec(url: "https://host/"),
                createdAt: Date(milliseconds: 0)))
    }

    @Test func makesADocumentOnceForEachVersionOfAJobThatDoesNotRun() {
        let responses = JobResponseCache(ResponseBudget(bytes: 1 << 20, bytesOfHolder: 1 << 20))
        var made: [String] = []
        func documentsOf(_ jobs: [CachedJob]) -> [[UInt8]] {
            responses.documents(of: jobs, for: .full) { job in
                made.append(job.id.text)
                return Array("\(job.id) \(made.count)".utf8)
            }
        }
        let (first, second, running) = (Self.cached("a"), Self.cached("b"), Self.cached("c", .running(.attempting)))
        let all = documentsOf([first, second, running])
        #expect(all.map { String(decoding: $0, as: UTF8.self) } == ["a 1", "b 2", "c 3"])
        #expect(documentsOf([running, second, first]).dropFirst() == [all[1], all[0]])
        #expect(documentsOf([Self.cached("a", revision: 2), second]) == [Array("a 5".utf8), all[1]])
        #expect(made == ["a", "b", "c", "c", "a"])
    }

    @Test func keepsABoundedNumberOfDocuments() {
        let responses = JobResponseCache(ResponseBudget(bytes: 1 << 20, bytesOfHolder: 1 << 20))
        for round in 0..<5 {
            let jobs = (0..<2_000).map { Self.cached("job \(round) \($0)") }
            let made = responses.documents(of: jobs, for: .full) { Array($0.id.text.utf8) }
            #expect(made == jobs.map { Array($0.job.id.text.utf8) })
            #expect(responses.count <= 4_096)
        }
    }
}
