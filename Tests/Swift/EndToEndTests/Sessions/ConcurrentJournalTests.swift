import Formats
import TestKit
import Testing

/// Readers with a cursor during concurrent writes: event numbers must become visible in ascending order, or a reader
/// that has passed a number never sees its event.
@Suite struct ConcurrentJournalTests {
    private static let (writers, jobsEach) = (64, 5)

    @Test func neitherSkipsNorRepeatsEventsDuringConcurrentWrites() async throws {
        let (fetchd, origin) = (try await LocalService.start(), try Origin())
        origin.serve("/f", .file(Content.random(seed: 1, count: 1000)))
        let (api, url) = (fetchd.api, origin.url("/f"))
        // The delay is long enough that no batch finishes: the journal is complete when the last job has ended.
        for name in ["even", "odd"] { try await api.declareSession(name, ["finish_delay_seconds": 3600]) }

        let seen = try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<Self.writers {
                let session = JSON.string(writer % 2 == 0 ? "even" : "odd")
                group.addTask {
                    for _ in 0..<Self.jobsEach { try await api.submit(["url": .string(url), "session": session]) }
                }
            }
            async let all = read(api, "", pagesOf: 7, until: Self.writers * Self.jobsEach)
            async let even = read(api, "&session=even", pagesOf: 3, until: Self.writers / 2 * Self.jobsEach)
            try await group.waitForAll()
            return (all: try await all, even: try await even)
        }

        let journal = try await api.events()
        // Created, started and succeeded, each job once.
        #expect(journal.count == 3 * Self.writers * Self.jobsEach)
        #expect(seen.all == journal)
        #expect(seen.even == journal.filter { $0["session"] == "even" })
    }

    /// Reads page after page until the given number of jobs have succeeded.
    private func read(_ api: APIClient, _ filter: String, pagesOf limit: Int, until count: Int) async throws -> [JSON] {
        var (seen, after, succeeded): ([JSON], Int64, Int) = ([], 0, 0)
        return try await eventually("\(count) successes to be read", pause: .milliseconds(1)) {
            let page = try await api.get("/v1/events?after=\(after)&limit=\(limit)\(filter)").json
            let events = page["events"].arrayValue ?? []
            seen += events
            after = page["next_after"].integer ?? after
            succeeded += events.count { $0["type"] == "job.succeeded" }
            return succeeded == count ? seen : nil
        }
    }
}
