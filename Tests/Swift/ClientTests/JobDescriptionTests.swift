import Testing

@testable import Client

/// Messages that say what to do next.
@Suite struct JobDescriptionTests {
    @Test func showsCodeMessageAndStatusOfFailure() throws {
        let job = try Sample.job("job_1", "failed", members: Sample.failure)
        #expect(JobDescription.ending(job) == "failed: bad_status: The server answered 404. (HTTP status 404)")
        #expect(JobDescription.advice(job)?.hasSuffix("fetchd retry job_1") == true)
    }

    @Test func showsStateAndNameInLine() throws {
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

    /// A job that cannot continue by itself is reported, also with `--quiet`.
    @Test func asksForHelpWhenJobCannotContinue() throws {
        for (reason, word) in [("credentials", "--password-file"), ("url", "--from NEW-URL")] {
            let job = try Sample.job("job_1", "waiting", members: #","reason":"\#(reason)""#)
            #expect(JobDescription.neededAction(job)?.contains(word) == true, "\(reason)")
        }
        #expect(JobDescription.neededAction(try Sample.job("job_1", "paused"))?.contains("fetchd resume job_1") == true)
        #expect(JobDescription.neededAction(try Sample.job("job_1", "waiting", members: #","reason":"retry""#)) == nil)
        #expect(JobDescription.neededAction(try Sample.job("job_1", "running")) == nil)
    }

    @Test func derivesNameOfJob() throws {
        #expect(try Sample.job().name == "film.mkv")
        #expect(try Sample.job("job_1", "succeeded", members: Sample.file).name == "film (1).mkv")
        #expect(try Sample.job(name: "a%20b/").name == "download")
        var rehearsal = try Sample.job()
        rehearsal.url = "rehearse:film.mkv?status=404"
        #expect(rehearsal.name == "film.mkv")
    }

    /// Every failure code of the API has advice.
    @Test(arguments: [
        "bad_url", "blocked_address", "name_resolution_failed", "connect_failed", "connection_lost", "tls_failed",
        "timed_out", "too_slow", "too_many_redirects", "bad_status", "credentials_required",
        "proxy_credentials_required", "link_expired", "truncated", "size_mismatch", "too_large", "checksum_mismatch",
        "bad_range", "destination_exists", "destination_invalid", "no_space", "storage_error", "deadline_exceeded",
        "a_code_of_tomorrow",
    ])
    func givesAdviceForEveryFailureCode(_ code: String) throws {
        let job = try Sample.job(
            "job_1", "failed", members: #","failure":{"code":"\#(code)","message":"So it is.","status":null}"#)
        #expect(JobDescription.ending(job) == "failed: \(code): So it is.")
        #expect(JobDescription.advice(job)?.isEmpty == false)
    }

    @Test func mapsHTTPStatusToExitStatus() {
        #expect(CommandStatus.allCases.map(\.rawValue) == [0, 1, 2, 64, 65, 66, 69, 70, 73, 75, 76, 77, 78, 124])
        let answers: [(Int, CommandStatus)] = [
            (400, .refused), (401, .denied), (403, .denied), (404, .missing), (409, .conflicting), (410, .missing),
            (412, .conflicting), (413, .refused), (415, .refused), (421, .denied), (422, .refused), (500, .broken),
            (501, .broken), (503, .unavailable),
        ]
        for (status, expected) in answers { #expect(CommandStatus(httpStatus: status) == expected, "\(status)") }
    }

    @Test func namesWatchCommandOnInterrupt() throws {
        var tracker = JobTracker()
        _ = tracker.put(try Sample.job("job_1"))
        #expect(
            WatchRun.detachMessage(tracker)
                == "The download continues in the service. To watch again: fetchd watch job_1")
        for number in 2...4 { _ = tracker.put(try Sample.job("job_\(number)")) }
        #expect(
            WatchRun.detachMessage(tracker) == "The downloads continue in the service. To watch again: fetchd watch")
    }
}
