import Formats
import Testing

@testable import Client

/// Lines of a file of `fetchd export`, also broken ones.
@Suite struct QueueLineTests {
    @Test func readsAJobWithItsOrigin() throws {
        let text =
            #"{"kind":"job","id":"job_1","state":"paused","request":{"url":"https://h/","metadata":{"a":1}},"missing":["body"]}"#
        guard case .job(let job) = try QueueLine(Array(text.utf8), place: "line 2") else {
            Issue.record("It is no job.")
            return
        }
        #expect(job.origin == "job_1" && job.isPaused && job.missing == ["body"] && job.place == "line 2")
        #expect(job.marked == ["url": "https://h/", "metadata": ["a": 1, "imported_from": "job_1"]])
    }

    @Test(arguments: [
        "nonsense", "[]", "{}", #"{"kind":"planet"}"#, #"{"kind":"job","id":"job_1"}"#,
        #"{"kind":"job","id":"job_1","request":[]}"#, #"{"kind":"job","request":{}}"#, #"{"kind":"session","id":1}"#,
        #"{"kind":"fetchd-export","version":2}"#, #"{"kind":"webhook","session":"a"}"#,
    ])
    func refusesBrokenLines(_ text: String) {
        #expect(throws: ImportFault.self) { try QueueLine(Array(text.utf8), place: "line 1") }
    }

    @Test func namesEachBrokenLineAndKeepsTheOthers() {
        var summary = ImportSummary()
        let file =
            "{\"kind\":\"fetchd-export\",\"version\":1}\n\nnonsense\n{\"kind\":\"job\",\"id\":\"1\",\"request\":{}}\n"
        let lines = ImportQueueCommand.lines(Array(file.utf8), into: &summary)
        #expect(lines.map(\.place) == ["line 1", "line 4"])
        #expect(summary.failures.map(\.place) == ["line 3"])
    }
}
