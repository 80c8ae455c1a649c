import FetchdClient
import Formats
import Foundation
import TestKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The delegate shape, in one process.
@Suite struct DelegateTests {
    @Test func reportsDownloadFromResumeToFinish() async throws {
        let (fixture, log, gate) = (try await Fixture(), CallLog(), Gate())
        fixture.origin.serve("/a.bin", .file(fixture.bytes), .waiting(at: 150_000, for: gate))
        let session = try fixture.session("films", log)
        let task = session.downloadTask(with: fixture.url("/a.bin"))
        task.taskDescription = "the film"
        #expect(task.state == .suspended)
        task.resume()
        #expect(task.state == .running)
        #expect(await log.waitFor("wrote of 300000"))
        #expect(await session.allTasks == [task])
        #expect(task.countOfBytesReceived > 0)
        gate.open()
        #expect(await log.waitFor("batch 1 succeeded"))
        #expect(
            log.calls.current.filter { !$0.hasPrefix("wrote") } == [
                "finished 300000 download", "completed", "batch 1 succeeded",
            ])
        #expect(task.state == .completed)
        let job = try await fixture.fetchd.api.job(#require(task.jobIdentifier))
        #expect(job["metadata"]["task_description"] == "the film")
        await session.detach()
        #expect(try await fixture.fetchd.api.session("films")["unacknowledged_since"] == nil)
        #expect(fixture.folder.files == ["state/films/lock", "state/films/record.json"])
    }

    /// A client changes only what it sets: the session belongs to other programs, too.
    @Test func keepsTheSettingsOfOtherPrograms() async throws {
        let fixture = try await Fixture()
        try await fixture.fetchd.api.declareSession(
            "films",
            [
                "proxy": "http://127.0.0.1:3128", "rate_limit_bytes_per_second": 5000, "retry": ["max_attempts": 2],
                "timeouts": ["connect_seconds": 3], "headers": ["X-Shelf": "7"], "acknowledgement": "none",
            ])
        func configuration() async throws -> JSON { try await fixture.fetchd.api.session("films")["configuration"] }
        let before = try await configuration()
        for _ in 1...2 {
            let session = try fixture.session("films", CallLog()) { $0.timeoutIntervalForRequest = 20 }
            #expect(await session.allTasks.isEmpty)
            await session.detach()
        }
        var expected = before.objectValue ?? [:]
        expected["finish_delay_seconds"] = 0.2
        var timeouts = before["timeouts"].objectValue ?? [:]
        timeouts["request_seconds"] = 20
        expected["timeouts"] = .object(timeouts)
        #expect(try await configuration() == .object(expected))
        // A new session waits for the acknowledgement of its delegate.
        let session = try fixture.session("music", CallLog())
        #expect(await session.allTasks.isEmpty)
        await session.detach()
        #expect(try await fixture.fetchd.api.session("music")["configuration"]["acknowledgement"] == "expected")
    }

    /// A client on the machine of the service gets the file itself.
    @Test func handsOutFileInItsPlace() async throws {
        let (fixture, log) = (try await Fixture(), CallLog())
        fixture.origin.serve("/a.bin", .file(fixture.bytes))
        let session = try fixture.session("films", log) {
            $0.downloadsFolder = URL(filePath: fixture.fetchd.folder.path("downloads"))
        }
        session.downloadTask(with: URLRequest(url: fixture.url("/a.bin"))).resume()
        #expect(await log.waitFor("finished 300000 bin"))
        #expect(await log.waitFor("batch 1 succeeded"))
        #expect(fixture.fetchd.downloaded("a.bin") == fixture.bytes)
        await session.detach()
    }

    @Test func suspendsAndResumes() async throws {
        let (fixture, log, gate) = (try await Fixture(), CallLog(), Gate())
        fixture.origin.serve("/a.bin", .file(fixture.bytes), .waiting(at: 150_000, for: gate).once)
        let session = try fixture.session("films", log)
        let task = session.downloadTask(with: fixture.url("/a.bin"))
        task.resume()
        #expect(await log.waitFor("wrote of 300000"))
        task.suspend()
        #expect(task.state == .suspended)
        try await fixture.fetchd.api.waitForJob(#require(task.jobIdentifier), .paused)
        task.resume()
        #expect(await log.waitFor("completed"))
        #expect(log.calls.current.contains("resumed of 300000"))
        await session.detach()
    }

    /// Another session, with the same files, continues from the resume data.
    @Test func continuesFromResumeData() async throws {
        let (fixture, log, gate) = (try await Fixture(), CallLog(), Gate())
        fixture.origin.serve("/a.bin", .file(fixture.bytes), .waiting(at: 150_000, for: gate).once)
        let session = try fixture.session("films", log)
        let task = session.downloadTask(with: fixture.url("/a.bin"))
        task.resume()
        #expect(await log.waitFor("wrote of 300000"))
        let resumeData = await withCheckedContinuation { continuation in
            task.cancel { continuation.resume(returning: $0) }
        }
        #expect(await log.waitFor("cancelled with bytes"))
        session.downloadTask(withResumeData: try #require(resumeData)).resume()
        #expect(await log.waitFor("completed"))
        #expect(log.calls.current.contains("resumed of 300000"))
        // The bytes are used up.
        session.downloadTask(withResumeData: try #require(resumeData)).resume()
        #expect(await log.waitFor("refused"))
        session.downloadTask(withResumeData: Data("{}".utf8)).resume()
        #expect(await log.calls.wait { $0.filter { $0 == "refused" }.count == 2 })
        await session.detach()
    }

    @Test func cancelsTaskThatWasNeverResumed() async throws {
        let (fixture, log) = (try await Fixture(), CallLog())
        let session = try fixture.session("films", log)
        let task = session.downloadTask(with: fixture.url("/a.bin"))
        task.cancel()
        #expect(await log.waitFor("cancelled without bytes"))
        #expect(await session.allTasks == [])
        #expect(try await fixture.fetchd.api.get("/v1/jobs?session=films").json["jobs"].count == 0)
        await session.detach()
    }

    @Test func answersChallenge() async throws {
        let fixture = try await Fixture()
        let log = CallLog(answersChallenge: .useCredential(.basic(username: "ada", password: "correct")))
        fixture.origin.serve("/a.bin", .file(fixture.bytes), .demandingBasic("ada", "correct"))
        let session = try fixture.session("films", log) { $0.waitsFor = [.space, .credentials] }
        session.downloadTask(with: fixture.url("/a.bin")).resume()
        #expect(await log.waitFor("completed"))
        #expect(log.calls.current.first?.hasPrefix("challenged basic") ?? false)
        await session.detach()
    }

    /// A challenge that got no answer comes again in the next process.
    @Test func repeatsChallengeWithoutAnswer() async throws {
        let (fixture, first) = (try await Fixture(), CallLog())
        fixture.origin.serve("/a.bin", .file(fixture.bytes), .demandingBasic("ada", "correct"))
        func open(_ log: CallLog) throws -> BackgroundSession {
            try fixture.session("films", log) { $0.waitsFor = [.space, .credentials] }
        }
        let session = try open(first)
        session.downloadTask(with: fixture.url("/a.bin")).resume()
        #expect(await first.calls.wait { $0.count == 1 })
        await session.detach()
        let second = CallLog(answersChallenge: .cancelAuthenticationChallenge)
        let next = try open(second)
        #expect(await second.waitFor("batch 1 cancelled"))
        #expect(second.calls.current.dropFirst() == ["cancelled without bytes", "batch 1 cancelled"])
        #expect(second.calls.current.first == first.calls.current.first)
        await next.detach()
    }

    @Test func replacesExpiredLink() async throws {
        let fixture = try await Fixture()
        let log = CallLog(newURL: fixture.url("/new.bin"))
        fixture.origin.serve("/old.bin", .fixed(status: 403))
        fixture.origin.serve("/new.bin", .file(fixture.bytes))
        let session = try fixture.session("films", log) { $0.waitsFor = [.space, .url] }
        session.downloadTask(with: fixture.url("/old.bin")).resume()
        #expect(await log.waitFor("completed"))
        #expect(log.calls.current.first == "expired")
        await session.detach()
    }

    /// The finish comes again until its handler was called; later events are delivered in the meantime.
    @Test func repeatsFinishWithoutAcknowledgement() async throws {
        let (fixture, first) = (try await Fixture(), CallLog(acknowledges: false))
        fixture.origin.serve("/a.bin", .file(fixture.bytes))
        let session = try fixture.session("films", first)
        session.downloadTask(with: fixture.url("/a.bin")).resume()
        #expect(await first.waitFor("batch 1 succeeded"))
        session.downloadTask(with: fixture.url("/missing")).resume()
        #expect(await first.waitFor("batch 2 failed"))
        // The second finish alone: the service must not take the first as acknowledged.
        first.finishes.current.last?()
        await session.detach()
        #expect(try await fixture.fetchd.api.session("films")["unacknowledged_since"] != .null)
        let second = CallLog()
        let next = try fixture.session("films", second)
        #expect(await second.waitFor("batch 1 succeeded"))
        _ = try await eventually("both finishes to be acknowledged") {
            try await fixture.fetchd.api.session("films")["unacknowledged_since"] == .null ? true : nil
        }
        #expect(second.calls.current == ["batch 1 succeeded"])
        await next.detach()
    }

    @Test func reportsRefusals() async throws {
        let (fixture, log) = (try await Fixture(token: "correct"), CallLog())
        let session = try fixture.session("films", log, token: "correct")
        session.downloadTask(with: URL(string: "gopher://example.org/")!).resume()
        #expect(await log.waitFor("refused"))
        var request = URLRequest(url: fixture.url("/a.bin"))
        request.httpMethod = "POST"
        request.httpBody = Data([0xFF])
        session.downloadTask(with: request).resume()
        #expect(await log.calls.wait { $0 == ["refused", "refused"] })
        // One process at a time.
        #expect(throws: FetchdError.identifierInUse("films")) { try fixture.session("films", CallLog()) }
        #expect(throws: FetchdError.self) { try fixture.session("a/b", CallLog()) }
        await session.detach()
        let stranger = CallLog()
        let other = try fixture.session("films", stranger, token: "wrong")
        #expect(await stranger.calls.wait { $0.first?.contains("401") ?? false })
        #expect(await other.allTasks == [])
        await other.detach()
    }

    @Test func invalidatesWhenTasksHaveFinished() async throws {
        let (fixture, log, gate) = (try await Fixture(), CallLog(), Gate())
        fixture.origin.serve("/a.bin", .file(fixture.bytes), .waiting(at: 1000, for: gate))
        let session = try fixture.session("films", log)
        session.downloadTask(with: fixture.url("/a.bin")).resume()
        #expect(await gate.reached())
        async let end: Void = session.finishTasksAndInvalidate()
        gate.open()
        try await end
        #expect(log.calls.current.suffix(3) == ["completed", "batch 1 succeeded", "invalid "])
        #expect(try await fixture.fetchd.api.get("/v1/sessions/films").status == 404)
        // A new session with the same name and the same record.
        let next = try fixture.session("films", log)
        next.downloadTask(with: fixture.url("/a.bin")).resume()
        try await next.invalidateAndCancel()
        let second = log.calls.current.drop { $0 != "invalid " }.dropFirst().filter { !$0.hasPrefix("wrote") }
        #expect(second.last == "invalid ")
        #expect(second.dropLast().last?.hasPrefix("batch ") ?? false, "\(second)")
    }
}
