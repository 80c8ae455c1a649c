import FetchdClient
import Foundation
import TestKit
import Testing

/// Sessions that follow nothing any more, or never did.
@Suite struct ClosedSessionTests {
    @Test func anErrorHasASentence() {
        let problem: any Error = FetchdError.unreachable("nothing listens")
        #expect(problem.localizedDescription == "The service cannot be reached: nothing listens")
        let refusal: any Error = DownloadError.refused(.cancelled)
        #expect(refusal.localizedDescription == "The operation was cancelled.")
        let end: any Error = DownloadError.cancelled(resumeData: nil)
        #expect(end.localizedDescription == "The download was cancelled.")
    }

    @Test func aTaskOfASessionWithoutDelegateEnds() async throws {
        let fixture = try await Fixture()
        let task = try fixture.session().downloadTask(with: fixture.url("/a.bin"))
        task.resume()
        #expect(task.state == .completed)
        #expect(task.error == .refused(.invalid("The session has no delegate, or is closed.")))
    }

    @Test func aTaskOfADetachedSessionEnds() async throws {
        let (fixture, log) = (try await Fixture(), CallLog())
        let session = try fixture.session("films", log)
        await session.detach()
        let task = session.downloadTask(with: fixture.url("/a.bin"))
        task.resume()
        #expect(task.state == .completed)
        #expect(fixture.folder.files.allSatisfy { !$0.contains("/tasks/") })
    }

    @Test func anInvalidSessionCanBeOpenedAgain() async throws {
        let (fixture, log) = (try await Fixture(token: "first"), CallLog())
        let refused = try fixture.session("films", log, token: "wrong")
        #expect(await log.calls.wait { $0.contains { $0.hasPrefix("invalid") } })
        let session = try fixture.session("films", CallLog(), token: "first")
        #expect(await session.allTasks.isEmpty)
        let late = refused.downloadTask(with: fixture.url("/a.bin"))
        late.resume()
        #expect(late.state == .completed)
        await session.detach()
    }

    @Test func aRefusedSessionDoesNotWaitForItsTasks() async throws {
        let (fixture, log) = (try await Fixture(token: "first"), CallLog())
        let refused = try fixture.session("films", log, token: "wrong")
        refused.downloadTask(with: fixture.url("/a.bin")).resume()
        #expect(await log.calls.wait { $0.contains { $0.hasPrefix("invalid") } })
        await #expect(throws: FetchdError.self) { try await refused.finishTasksAndInvalidate() }
        await #expect(throws: FetchdError.self) { try await refused.invalidateAndCancel() }
    }

    /// A handler that was stored is called after another session has used the files.
    @Test func aLateCompletionHandlerLeavesTheNextSessionAlone() async throws {
        let fixture = try await Fixture()
        fixture.origin.serve("/a.bin", .file(fixture.bytes))
        let logs = [CallLog(acknowledges: false), CallLog(), CallLog()]
        for (number, log) in zip(1..., logs) {
            let session = try fixture.session("films", log)
            session.downloadTask(with: fixture.url("/a.bin")).resume()
            #expect(await log.waitFor("batch \(number) succeeded"))
            await session.detach()
            if number == 2 { for handler in logs[0].finishes.current { handler() } }
        }
        #expect(logs[2].calls.current.filter { $0.hasPrefix("batch") } == ["batch 3 succeeded"])
    }
}
