import FetchdClient
import Foundation
import TestKit
import Testing

/// The asynchronous shape.
@Suite struct SequenceTests {
    @Test func followsDownloadAcrossCrashOfService() async throws {
        let (fixture, gate) = (try await Fixture(), Gate())
        fixture.origin.serve("/a.bin", .file(fixture.bytes), .waiting(at: 150_000, for: gate).once)
        let session = try fixture.session()
        let download = try await session.download(from: fixture.url("/a.bin"), key: "one")
        var (seen, isKilled): ([Int64], Bool) = ([], false)
        for try await progress in download {
            seen.append(progress.bytesReceived)
            guard progress.bytesReceived > 0, !isKilled else { continue }
            isKilled = true
            try await fixture.fetchd.kill()
            gate.open()
            try await fixture.fetchd.restart()
        }
        #expect(seen.last == 300_000)
        let place = URL(filePath: fixture.folder.path("saved"))
        #expect(try await download.save(to: place).name == "a.bin")
        #expect(fixture.folder.bytes(of: "saved") == fixture.bytes)
        // The same key is the same download, within its session.
        #expect(try await session.download(from: fixture.url("/a.bin"), key: "one").id == download.id)
        let other = try fixture.session("music")
        #expect(try await other.download(from: fixture.url("/a.bin"), key: "one").id != download.id)
    }

    @Test func throwsReasonOfFailure() async throws {
        let fixture = try await Fixture()
        let session = try fixture.session()
        let download = try await session.download(from: fixture.url("/missing"))
        for try await _ in download {}
        do throws(DownloadError) {
            _ = try await download.finished()
            Issue.record("There is no file.")
        } catch .failed(let failure, _) {
            #expect(failure.code == "bad_status" && failure.status == 404)
        } catch {
            Issue.record("\(error)")
        }
        await #expect(throws: FetchdError.self) {
            try await session.download(from: URL(string: "gopher://example.org/")!)
        }
    }

    @Test func returnsEveryEventOnceAcrossCrashOfService() async throws {
        let fixture = try await Fixture()
        fixture.origin.serve("/a.bin", .file(fixture.bytes))
        let session = try fixture.session()
        let first = try await session.download(from: fixture.url("/a.bin"))
        _ = try await first.finished()
        var (seen, second): ([SessionEvent], Download?) = ([], nil)
        for try await event in session.events(after: 0) {
            seen.append(event)
            guard case .sessionFinished(let batch) = event.kind else { continue }
            if batch.number == 2 { break }
            try await fixture.fetchd.kill()
            try await fixture.fetchd.restart()
            second = try await session.download(from: fixture.url("/a.bin"))
        }
        let journal = try await fixture.fetchd.api.events().filter { $0["session"] == "films" }
        #expect(seen.map(\.id) == journal.map { $0["id"].integer })
        #expect(Set(seen.compactMap(\.job)) == Set([first.id, try #require(second).id]))
    }

    @Test func returnsFinishesUntilTheyAreAcknowledged() async throws {
        let fixture = try await Fixture()
        fixture.origin.serve("/a.bin", .file(fixture.bytes))
        let session = try fixture.session()
        _ = try await session.download(from: fixture.url("/a.bin"))
        for acknowledges in [false, true] {
            for try await batch in try await session.finished {
                #expect(batch.number == 1 && batch.outcome == .succeeded && batch.counts.succeeded == 1)
                if acknowledges { try await session.acknowledge(batch) }
                break
            }
        }
        #expect(try await fixture.fetchd.api.session("films")["unacknowledged_since"] == .null)
    }

    /// A task that waits for a service that does not answer can be cancelled.
    @Test func endsWhenCancelled() async throws {
        let fixture = try await Fixture()
        let session = try fixture.session()
        _ = try await session.download(from: fixture.url("/missing"))
        try await fixture.fetchd.kill()
        let task = Task { for try await _ in session.events(after: 0) {} }
        task.cancel()
        await #expect(throws: FetchdError.cancelled) { try await task.value }
    }
}
