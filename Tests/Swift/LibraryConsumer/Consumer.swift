import FetchdClient
import Foundation

/// A program with a `BackgroundSession` that writes a line for each delegate call and dies where a test wants it.
///
///     fetchd-client-consumer SERVICE STATE-FOLDER LOG DEATH [URL...]
///
/// DEATH is `never`, `resumed` (after the tasks were resumed), `in:LINE` (in the call that writes this line) or `handled`
/// (after the completion handler of the finish, in the same call). The program ends when it has a finish.
@main final class Consumer: BackgroundSessionDelegate {
    private let log: FileHandle
    private let death: String
    private let isDone: AsyncStream<Void>.Continuation

    init(log: FileHandle, death: String, isDone: AsyncStream<Void>.Continuation) {
        self.log = log
        self.death = death
        self.isDone = isDone
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        let descriptor = open(arguments[3], O_CREAT | O_APPEND | O_WRONLY, 0o600)
        let (done, isDone) = AsyncStream.makeStream(of: Void.self)
        let consumer = Consumer(
            log: FileHandle(fileDescriptor: descriptor), death: arguments[4], isDone: isDone)
        var configuration = BackgroundSessionConfiguration(
            service: URL(string: arguments[1])!, stateFolder: URL(filePath: arguments[2]))
        configuration.finishDelay = 0.5
        let session = try BackgroundSession(
            identifier: "crashes", configuration: configuration, delegate: consumer)
        for url in arguments.dropFirst(5) { session.downloadTask(with: URL(string: url)!).resume() }
        if consumer.death == "resumed" { die() }
        for await _ in done { break }
        await session.detach()
    }

    private static func die() { kill(getpid(), SIGKILL) }

    private func write(_ line: String) {
        log.write(Data("\(line)\n".utf8))
        if death == "in:\(line)" { Self.die() }
    }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        write("resumed \(downloadTask.originalURL?.lastPathComponent ?? "") \(fileOffset) \(expectedTotalBytes)")
    }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let size = (try? Data(contentsOf: location).count) ?? -1
        write("finished \(downloadTask.originalURL?.lastPathComponent ?? "") \(size)")
    }

    func session(_ session: BackgroundSession, task: BackgroundDownloadTask, didCompleteWithError error: DownloadError?)
    {
        let name = task.originalURL?.lastPathComponent ?? ""
        switch error {
        case nil: write("completed \(name)")
        case .failed(let failure, _): write("failed \(name) \(failure.code)")
        case .cancelled: write("cancelled \(name)")
        case .refused: write("refused \(name)")
        }
    }

    func sessionDidFinishEvents(
        for session: BackgroundSession, batch: FinishedBatch, completionHandler: @escaping @Sendable () -> Void
    ) {
        write("batch \(batch.number) \(batch.outcome)")
        completionHandler()
        if death == "handled" { Self.die() }
        isDone.yield()
    }

    func session(_ session: BackgroundSession, didBecomeInvalidWithError error: FetchdError?) {
        write("invalid \(error.map { "\($0)" } ?? "")")
        isDone.yield()
    }
}
