import Formats
import Testing

@testable import Client

@Suite struct JobTrackerTests {
    @Test func followsJobFromQueuedToSucceeded() throws {
        var tracker = JobTracker()
        #expect(tracker.haveAllEnded)
        #expect(tracker.put(try Sample.job("job_1", "queued")) == .added(try Sample.job("job_1", "queued")))
        #expect(!tracker.haveAllEnded)
        guard case .stateChanged(let started) = tracker.apply(try Sample.event(1, "job.started")) else {
            Issue.record("the start is not told")
            return
        }
        #expect(started.state == "running")
        tracker.apply(try Sample.progress("job_1", 50, of: 100))
        #expect(tracker["job_1"]?.progress.fraction == 0.5)
        let snapshot = Sample.text("job_1", "succeeded", "film.mkv", Sample.file)
        let end = try Sample.event(2, "job.succeeded", data: #"{"snapshot":\#(snapshot)}"#)
        #expect(tracker.apply(end) != nil)
        #expect(tracker.haveAllEnded && tracker.haveAllSucceeded)
        // An event that is repeated after a lost connection changes nothing; nor does an earlier event.
        #expect(tracker.apply(end) == nil)
        #expect(tracker.apply(try Sample.event(1, "job.started")) == nil)
        tracker.apply(try Sample.progress("job_1", 60, of: 100))
        #expect(tracker["job_1"]?.state == "succeeded")
    }

    @Test func removesDeletedJob() throws {
        var tracker = JobTracker()
        _ = tracker.put(try Sample.job("job_1"))
        _ = tracker.put(try Sample.job("job_2"))
        #expect(tracker.apply(try Sample.event(1, "job.deleted")) != nil)
        #expect(tracker.apply(try Sample.event(1, "job.deleted")) == nil)
        #expect(!tracker.haveAllEnded)
        #expect(tracker.remove("job_2") != nil)
        #expect(tracker.remove("job_2") == nil)
        #expect(tracker.haveAllEnded && !tracker.haveAllSucceeded)
    }

    /// An ended job can be retried; earlier events of the journal change nothing.
    @Test func followsRetriedJob() throws {
        var tracker = JobTracker()
        let ended = #","finished_at":"2019-08-19T15:23:14.000Z""# + Sample.failure
        _ = tracker.put(try Sample.job("job_1", "failed", members: ended))
        #expect(tracker.haveAllEnded)
        var before = try Sample.event(1, "job.started")
        before.time = "2019-08-19T15:23:13.999Z"
        #expect(tracker.apply(before) == nil && tracker.haveAllEnded)
        guard case .stateChanged(let retried) = tracker.apply(try Sample.event(2, "job.started")) else {
            Issue.record("the retry is not told")
            return
        }
        #expect(retried.state == "running" && retried.failure == nil && !tracker.haveAllEnded)
        let snapshot = Sample.text("job_1", "failed", "film.mkv", ended)
        let end = try Sample.event(3, "job.failed", data: #"{"snapshot":\#(snapshot)}"#)
        #expect(tracker.apply(end, snapshot: JSON(document: snapshot.utf8)) != nil && tracker.haveAllEnded)
        #expect(tracker.snapshots["job_1"] == JSON(document: snapshot.utf8))
        for (id, type) in [(4, "job.paused"), (6, "job.waiting")] {
            #expect(tracker.apply(try Sample.event(id, type)) != nil && !tracker.haveAllEnded, "\(type)")
            let again = try Sample.event(id + 1, "job.failed", data: #"{"snapshot":\#(snapshot)}"#)
            #expect(tracker.apply(again) != nil && tracker.haveAllEnded)
        }
        #expect(tracker.apply(try Sample.event(8, "job.deleted")) == nil)
        #expect(tracker.apply(try Sample.event(9, "job.started")) == nil && tracker.haveAllEnded)
    }

    @Test func ignoresJobsThatAreNotWatched() throws {
        var tracker = JobTracker()
        _ = tracker.put(try Sample.job("job_1"))
        #expect(tracker.apply(try Sample.event(1, "job.failed", job: "job_2")) == nil)
        tracker.apply(try Sample.progress("job_2", 1, of: 2))
        #expect(tracker.jobs.count == 1)
    }

    @Test func reportsWaitOnlyWhenItChanges() throws {
        var tracker = JobTracker()
        _ = tracker.put(try Sample.job("job_1"))
        let waiting = try Sample.event(1, "job.waiting", data: #"{"reason":"retry","retry_at":"2019-08-19T15:24:00Z"}"#)
        #expect(tracker.apply(waiting) != nil)
        #expect(tracker.apply(waiting) == nil)
        #expect(tracker["job_1"].flatMap(JobDescription.advice)?.contains("2019-08-19T15:24:00Z") == true)
        #expect(tracker.apply(try Sample.event(2, "job.waiting", data: #"{"reason":"url","retry_at":null}"#)) != nil)
    }
}
