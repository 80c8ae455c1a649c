import FetchdClient
import Foundation

/// A download that the user stops, and continues after a relaunch of the app from the resume data.
///
///     FETCHD_URL=http://127.0.0.1:8080 resume-after-relaunch STATE-FOLDER RESUME-FILE URL
///
/// The first run starts the download. When it has bytes, it cancels the task and stores the resume data in RESUME-FILE. The
/// second run finds this file and continues.
@main final class ResumeAfterRelaunch: BackgroundSessionDelegate {
    private let resumeFile: URL
    private let isDone: AsyncStream<Void>.Continuation

    init(resumeFile: URL, isDone: AsyncStream<Void>.Continuation) {
        self.resumeFile = resumeFile
        self.isDone = isDone
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        let (done, isDone) = AsyncStream.makeStream(of: Void.self)
        let delegate = ResumeAfterRelaunch(resumeFile: URL(filePath: arguments[2]), isDone: isDone)
        let session = try BackgroundSession(
            identifier: "com.example.resume",
            configuration: BackgroundSessionConfiguration(
                service: URL(string: ProcessInfo.processInfo.environment["FETCHD_URL"] ?? "http://127.0.0.1:8080")!,
                token: ProcessInfo.processInfo.environment["FETCHD_TOKEN"], stateFolder: URL(filePath: arguments[1])),
            delegate: delegate)
        if let resumeData = try? Data(contentsOf: delegate.resumeFile) {
            session.downloadTask(withResumeData: resumeData).resume()
        } else {
            session.downloadTask(with: URL(string: arguments[3])!).resume()
        }
        for await _ in done { break }
        await session.detach()
    }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        guard totalBytesWritten > 0, !FileManager.default.fileExists(atPath: resumeFile.path) else { return }
        // The second call, if there is one, finds the task cancelled, and gets nil.
        downloadTask.cancel { [resumeFile, isDone] resumeData in
            guard let resumeData else { return }
            try? resumeData.write(to: resumeFile, options: .atomic)
            print("stopped")
            isDone.yield()
        }
    }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        print("resumed at \(fileOffset)")
    }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didFinishDownloadingTo location: URL
    ) {
        print("finished: \((try? Data(contentsOf: location).count) ?? 0) bytes")
        try? FileManager.default.removeItem(at: resumeFile)
        isDone.yield()
    }
}
