import Testing

@testable import Client

/// Sentences that say what to do next.
@Suite struct JobDescriptionTests {
    @Test func aFailureHasItsCodeMessageAndStatus() throws {
        let job = try Sample.job("job_1", "failed", members: Sample.failure)
        #expect(JobDescription.ending(job) == "failed: bad_status: The server answered 404. (HTTP status 404)")
        #expect(JobDescription.advice(job)?.hasSuffix("fetchd retry job_1") == true)
    }

    @Test func aLineSaysWhichJobItIs() throws {
        let failed = try Sample.job("job_1", "failed", members: Sample.failure)
        #expect(
            JobDescription.line(failed)
                == "failed: https://h.example/film.mkv: bad_status: The server answered 404. (HTTP status 404)"
        )
        #expect(JobDescription.line(try Sample.job("job_1", "cancelled")) == "cancelled: film.mkv")
        #expect(JobDescription.line(try Sample.job("job_1", "running")) == "running: film.mkv")
        let done = try Sample.job("job_1", "succeeded", members: Sample.file)
        #expect(JobDescription.line(done) == "succeeded: videos/film (1).mkv (1.0 MiB)")
    }

    /// What does not go on by itself is told also to those who want to hear nothing.
    @Test func whoNeedsSomebody() throws {
        for (reason, word) in [("credentials", "--password-file"), ("url", "--from NEW-URL")] {
            let job = try Sample.job("job_1", "waiting", members: #","reason":"\#(reason)""#)
            #expect(JobDescription.neededAction(job)?.contains(word) == true, "\(reason)")
        }
        #expect(JobDescription.neededAction(try Sample.job("job_1", "paused"))?.contains("fetchd resume job_1") == true)
        #expect(JobDescription.neededAction(try Sample.job("job_1", "waiting", members: #","reason":"retry""#)) == nil)
        #expect(JobDescription.neededAction(try Sample.job("job_1", "running")) == nil)
    }

    @Test func names() throws {
        #expect(try Sample.job().name == "film.mkv")
        #expect(try Sample.job("job_1", "succeeded", members: Sample.file).name == "film (1).mkv")
        #expect(try Sample.job(name: "a%20b/").name == "a b")
        var rehearsal = try Sample.job()
        rehearsal.url = "rehearse:film.mkv?status=404"
        #expect(rehearsal.name == "film.mkv")
    }

    /// Each code of the contract leads on.
    @Test(arguments: [
        "bad_url", "blocked_address", "name_resolution_failed", "connect_failed", "connection_lost", "tls_failed",
        "timed_out", "too_slow", "too_many_redirects", "bad_status", "credentials_required", "link_expired",
        "truncated", "size_mismatch", "too_large", "checksum_mismatch", "bad_range", "source_changed",
        "destination_exists", "destination_invalid", "no_space", "storage_error", "deadline_exceeded",
        "a_code_of_tomorrow",
    ])
    func everyFailureLeadsOn(_ code: String) throws {
        let job = try Sample.job(
            "job_1", "failed", members: #","failure":{"code":"\#(code)","message":"So it is.","status":null}"#)
        #expect(JobDescription.ending(job) == "failed: \(code): So it is.")
        #expect(JobDescription.advice(job)?.isEmpty == false)
    }

    @Test func exitStatusesAreStable() {
        #expect(CommandStatus.allCases.map(\.rawValue) == [0, 1, 64, 65, 66, 69, 70, 73, 75, 76, 77, 78, 124])
        let answers: [(Int, CommandStatus)] = [
            (400, .refused), (401, .denied), (403, .denied), (404, .missing), (409, .conflicting), (410, .missing),
            (412, .conflicting), (413, .refused), (415, .refused), (421, .denied), (422, .refused), (500, .broken),
            (501, .broken), (503, .unavailable),
        ]
        for (status, expected) in answers { #expect(CommandStatus(answer: status) == expected, "\(status)") }
    }

    @Test func whoLeavesIsToldHowToComeBack() throws {
        var tracker = JobTracker()
        _ = tracker.put(try Sample.job("job_1"))
        #expect(WatchRun.farewell(tracker) == "The download goes on in the service. Come back with: fetchd watch job_1")
        for number in 2...4 { _ = tracker.put(try Sample.job("job_\(number)")) }
        #expect(WatchRun.farewell(tracker) == "The downloads go on in the service. Come back with: fetchd watch")
    }
}
