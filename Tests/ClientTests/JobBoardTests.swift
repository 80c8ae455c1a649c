import Testing

@testable import Client

@Suite struct JobBoardTests {
    @Test func followsJobFromQueuedToSucceeded() throws {
        var board = JobBoard()
        #expect(board.areAllOver)
        #expect(board.put(try Sample.job("job_1", "queued")) == .added(try Sample.job("job_1", "queued")))
        #expect(!board.areAllOver)
        guard case .moved(let started) = board.apply(try Sample.event(1, "job.started")) else {
            Issue.record("the start is not told")
            return
        }
        #expect(started.state == "running")
        board.apply(try Sample.progress("job_1", 50, of: 100))
        #expect(board["job_1"]?.progress.fraction == 0.5)
        let snapshot = Sample.text("job_1", "succeeded", "film.mkv", Sample.file)
        let end = try Sample.event(2, "job.succeeded", data: #"{"snapshot":\#(snapshot)}"#)
        #expect(board.apply(end) != nil)
        #expect(board.areAllOver && board.haveAllSucceeded)
        // An event that is repeated after a lost connection changes nothing; nor does an earlier event.
        #expect(board.apply(end) == nil)
        #expect(board.apply(try Sample.event(1, "job.started")) == nil)
        board.apply(try Sample.progress("job_1", 60, of: 100))
        #expect(board["job_1"]?.state == "succeeded")
    }

    @Test func removesDeletedJob() throws {
        var board = JobBoard()
        _ = board.put(try Sample.job("job_1"))
        _ = board.put(try Sample.job("job_2"))
        #expect(board.apply(try Sample.event(1, "job.deleted")) != nil)
        #expect(board.apply(try Sample.event(1, "job.deleted")) == nil)
        #expect(!board.areAllOver)
        #expect(board.remove("job_2") != nil)
        #expect(board.remove("job_2") == nil)
        #expect(board.areAllOver && !board.haveAllSucceeded)
    }

    /// An ended job can be retried; earlier events of the journal change nothing.
    @Test func followsRetriedJob() throws {
        var board = JobBoard()
        let ended = #","finished_at":"2019-08-19T15:23:14.000Z""# + Sample.failure
        _ = board.put(try Sample.job("job_1", "failed", members: ended))
        #expect(board.areAllOver)
        var before = try Sample.event(1, "job.started")
        before.time = "2019-08-19T15:23:13.999Z"
        #expect(board.apply(before) == nil && board.areAllOver)
        guard case .moved(let retried) = board.apply(try Sample.event(2, "job.started")) else {
            Issue.record("the retry is not told")
            return
        }
        #expect(retried.state == "running" && retried.failure == nil && !board.areAllOver)
        let snapshot = Sample.text("job_1", "failed", "film.mkv", ended)
        let end = try Sample.event(3, "job.failed", data: #"{"snapshot":\#(snapshot)}"#)
        #expect(board.apply(end, snapshot: JSONText(Array(snapshot.utf8))) != nil && board.areAllOver)
        #expect(board.snapshots["job_1"] == JSONText(Array(snapshot.utf8)))
        for (id, type) in [(4, "job.paused"), (6, "job.waiting")] {
            #expect(board.apply(try Sample.event(id, type)) != nil && !board.areAllOver, "\(type)")
            let again = try Sample.event(id + 1, "job.failed", data: #"{"snapshot":\#(snapshot)}"#)
            #expect(board.apply(again) != nil && board.areAllOver)
        }
        #expect(board.apply(try Sample.event(8, "job.deleted")) == nil)
        #expect(board.apply(try Sample.event(9, "job.started")) == nil && board.areAllOver)
    }

    @Test func ignoresJobsThatAreNotWatched() throws {
        var board = JobBoard()
        _ = board.put(try Sample.job("job_1"))
        #expect(board.apply(try Sample.event(1, "job.failed", job: "job_2")) == nil)
        board.apply(try Sample.progress("job_2", 1, of: 2))
        #expect(board.jobs.count == 1)
    }

    @Test func reportsWaitOnlyWhenItChanges() throws {
        var board = JobBoard()
        _ = board.put(try Sample.job("job_1"))
        let waiting = try Sample.event(1, "job.waiting", data: #"{"reason":"retry","retry_at":"2019-08-19T15:24:00Z"}"#)
        #expect(board.apply(waiting) != nil)
        #expect(board.apply(waiting) == nil)
        #expect(board["job_1"].flatMap(JobWords.advice)?.contains("2019-08-19T15:24:00Z") == true)
        #expect(board.apply(try Sample.event(2, "job.waiting", data: #"{"reason":"url","retry_at":null}"#)) != nil)
    }
}
