import FetchdClient
import Foundation

/// Downloads that run one after the other, in their order.
///
///     FETCHD_URL=http://127.0.0.1:8080 one-at-a-time STATE-FOLDER [URL...]
@main final class OneAtATime: BackgroundSessionDelegate {
    private let isDone: AsyncStream<Void>.Continuation

    init(isDone: AsyncStream<Void>.Continuation) { self.isDone = isDone }

    static func main() async throws {
        var configuration = BackgroundSessionConfiguration(
            service: URL(string: ProcessInfo.processInfo.environment["FETCHD_URL"] ?? "http://127.0.0.1:8080")!,
            token: ProcessInfo.processInfo.environment["FETCHD_TOKEN"],
            stateFolder: URL(filePath: CommandLine.arguments[1]))
        configuration.maximumConcurrentDownloads = 1
        configuration.finishDelay = 0.2
        let (done, isDone) = AsyncStream.makeStream(of: Void.self)
        let session = try BackgroundSession(
            identifier: "com.example.queue", configuration: configuration, delegate: OneAtATime(isDone: isDone))
        for text in CommandLine.arguments.dropFirst(2) {
            session.downloadTask(with: URL(string: text)!).resume()
        }
        for await _ in done { break }
        await session.detach()
    }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let size = (try? FileManager.default.attributesOfItem(atPath: location.path))?[.size] as? NSNumber
        print("\(downloadTask.originalURL?.lastPathComponent ?? ""): \(size?.intValue ?? 0) bytes")
    }

    func session(_ session: BackgroundSession, task: BackgroundDownloadTask, didCompleteWithError error: DownloadError?)
    {
        print("\(task.originalURL?.lastPathComponent ?? ""): \(error.map { "failed: \($0)" } ?? "succeeded")")
    }

    func sessionDidFinishEvents(
        for session: BackgroundSession, batch: FinishedBatch, completionHandler: @escaping @Sendable () -> Void
    ) {
        completionHandler()
        isDone.yield()
    }
}
