import FetchdClient
import Foundation

/// The object that many apps have around a background session: it starts downloads, stores the files, and keeps the
/// completion handler until everything is done.
///
///     FETCHD_URL=http://127.0.0.1:8080 background-manager STATE-FOLDER FOLDER [URL...]
///
/// Kill it or the service at any moment, and run it again without URLs: it gets its tasks and the calls that it missed.
@main final class BackgroundManager: BackgroundSessionDelegate {
    private let folder: URL
    private let finished: AsyncStream<@Sendable () -> Void>.Continuation

    init(folder: URL, finished: AsyncStream<@Sendable () -> Void>.Continuation) {
        self.folder = folder
        self.finished = finished
    }

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().map { URL(filePath: $0) }
        var configuration = BackgroundSessionConfiguration(
            service: URL(string: ProcessInfo.processInfo.environment["FETCHD_URL"] ?? "http://127.0.0.1:8080")!,
            token: ProcessInfo.processInfo.environment["FETCHD_TOKEN"], stateFolder: arguments[0])
        configuration.finishDelay = 0.2
        let (completionHandlers, finished) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        let manager = BackgroundManager(folder: arguments[1], finished: finished)
        let session = try BackgroundSession(
            identifier: "com.example.manager", configuration: configuration, delegate: manager)
        print("\(await session.allTasks.count) tasks of an earlier run")
        for text in CommandLine.arguments.dropFirst(3) {
            let task = session.downloadTask(with: URL(string: text)!)
            task.taskDescription = "film \(task.originalURL?.lastPathComponent ?? "")"
            task.resume()
        }
        // Here an app would save the handler, and call it when its own work is done.
        for await completionHandler in completionHandlers {
            completionHandler()
            break
        }
        await session.detach()
        print("all done")
    }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        print("\(downloadTask.taskDescription ?? ""): \(totalBytesWritten) of \(totalBytesExpectedToWrite) bytes")
    }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        print("\(downloadTask.taskDescription ?? ""): resumed at \(fileOffset)")
    }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let place = folder.appending(path: downloadTask.originalURL?.lastPathComponent ?? "download")
        // The call is repeated if the process dies here, so an earlier copy may exist.
        try? FileManager.default.removeItem(at: place)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.moveItem(at: location, to: place)
        } catch {
            print("\(place.path) cannot be written: \(error)")
        }
    }

    func session(_ session: BackgroundSession, task: BackgroundDownloadTask, didCompleteWithError error: DownloadError?)
    {
        print("\(task.taskDescription ?? ""): \(error.map { "failed: \($0)" } ?? "succeeded")")
    }

    func sessionDidFinishEvents(
        for session: BackgroundSession, batch: FinishedBatch, completionHandler: @escaping @Sendable () -> Void
    ) {
        print("batch \(batch.number): \(batch.outcome)")
        finished.yield(completionHandler)
    }

    func session(_ session: BackgroundSession, didBecomeInvalidWithError error: FetchdError?) {
        print("The session cannot be used: \(error.map { "\($0)" } ?? "it was invalidated")")
        exit(1)
    }
}
