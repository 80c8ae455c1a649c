import FetchdClient
import Formats
import Foundation
import TestKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a task says of its request and its response, and where its file goes.
@Suite struct TaskDetailsTests {
    /// Puts each file into a folder by its media type.
    private final class Sorter: BackgroundSessionDelegate {
        let folder: URL
        let places: AsyncStream<URL>
        private let place: AsyncStream<URL>.Continuation

        init(_ folder: URL) {
            self.folder = folder
            (places, place) = AsyncStream.makeStream()
        }

        func session(
            _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, destinationFor temporaryURL: URL,
            response: DownloadResponse
        ) async -> URL? {
            folder.appending(path: response.mimeType ?? "unknown").appending(path: response.suggestedFilename)
        }

        func session(
            _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didFinishDownloadingTo location: URL
        ) async { place.yield(location) }
    }

    @Test(arguments: [false, true]) func putsTheFileWhereTheDelegateWantsIt(_ hasDownloadsFolder: Bool) async throws {
        let fixture = try await Fixture()
        fixture.origin.serve("/a.bin", .file(fixture.bytes), .header("Content-Type", "video/x-test"))
        let sorter = Sorter(URL(filePath: fixture.folder.path("sorted")))
        let session = try fixture.session("films", sorter) {
            if hasDownloadsFolder { $0.downloadsFolder = URL(filePath: fixture.fetchd.folder.path("downloads")) }
        }
        var request = URLRequest(url: fixture.url("/a.bin"))
        request.setValue("7", forHTTPHeaderField: "X-Shelf")
        let task = session.downloadTask(with: request)
        #expect(task.originalRequest == request && task.priority == 0.5 && task.response == nil)
        task.priority = 0.9
        #expect(task.priority == 0.75)
        let progress = task.observableProgress
        task.resume()
        var places = sorter.places.makeAsyncIterator()
        let place = try #require(await places.next())
        #expect(place.path == fixture.folder.path("sorted/video/x-test/a.bin"))
        #expect(try Data(contentsOf: place) == Data(fixture.bytes))
        #expect(fixture.fetchd.downloaded("a.bin") == fixture.bytes)
        let response = try #require(task.response)
        #expect(response.url == fixture.url("/a.bin") && response.statusCode == 200)
        #expect(response.mimeType == "video/x-test" && response.suggestedFilename == "a.bin")
        #expect(response.expectedContentLength == 300_000 && response.sha256?.count == 64)
        #expect(progress.completedUnitCount == 300_000 && progress.totalUnitCount == 300_000)
        let job = try await fixture.fetchd.api.job(#require(task.jobIdentifier))
        #expect(job["priority"] == "high")
        await session.detach()
    }

    @Test func changesThePriorityOfAWaitingTask() async throws {
        let (fixture, log) = (try await Fixture(), CallLog())
        let session = try fixture.session("films", log)
        let task = session.downloadTask(with: fixture.url("/a.bin"))
        task.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
        task.resume()
        let job = try await eventually("the job") { task.jobIdentifier }
        task.priority = 0
        _ = try await eventually("the change") {
            try await fixture.fetchd.api.job(job)["priority"] == "low" ? true : nil
        }
        task.observableProgress.cancel()
        #expect(await log.waitFor("cancelled without bytes"))
        await session.detach()
    }

    @Test func savesWhereAClosureSays() async throws {
        let fixture = try await Fixture()
        fixture.origin.serve("/a.bin", .file(fixture.bytes))
        let session = try fixture.session("films")
        let folder = URL(filePath: fixture.folder.path("closure"))
        let place = try await session.download(from: fixture.url("/a.bin")).save { _, response in
            folder.appending(path: "\(response.expectedContentLength)-\(response.suggestedFilename)")
        }
        #expect(place.lastPathComponent == "300000-a.bin")
        #expect(try Data(contentsOf: place) == Data(fixture.bytes))
    }

    @Test func configuresProxyTLSRetriesAndRate() async throws {
        let fixture = try await Fixture()
        let session = try fixture.session("films", CallLog()) {
            $0.proxy = URL(string: "http://user:secret@127.0.0.1:3128")
            $0.tls = .init(verify: false)
            $0.retry = .init(maxAttempts: 3, maxSeconds: 60)
            $0.rateLimit = 5000
        }
        #expect(await session.allTasks.isEmpty)
        let configuration = try await fixture.fetchd.api.session("films")["configuration"]
        #expect(configuration["proxy"] == "http://127.0.0.1:3128" && configuration["tls"]["verify"] == false)
        #expect(configuration["retry"]["max_attempts"] == 3 && configuration["retry"]["max_seconds"] == 60)
        #expect(configuration["rate_limit_bytes_per_second"] == 5000)
        await session.detach()
    }
}
