import FetchdClient
import Foundation
import TestKit

/// A delegate that notes its calls, and answers as the test says.
final class CallLog: BackgroundSessionDelegate {
    let calls = Monitor<[String]>([])
    let errors = Monitor<[DownloadError]>([])
    let finishes = Monitor<[@Sendable () -> Void]>([])
    let answersChallenge: ChallengeDisposition
    let newURL: URL?
    /// Whether the completion handler of a finish is called at once.
    let acknowledges: Bool

    init(
        answersChallenge: ChallengeDisposition = .performDefaultHandling, newURL: URL? = nil, acknowledges: Bool = true
    ) {
        self.answersChallenge = answersChallenge
        self.newURL = newURL
        self.acknowledges = acknowledges
    }

    private func note(_ call: String) { calls.withLock { $0.append(call) } }

    func waitFor(_ call: String) async -> Bool { await calls.wait { $0.contains(call) } }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        let line = "wrote of \(totalBytesExpectedToWrite)"
        calls.withLock { if totalBytesWritten > 0, $0.last != line { $0.append(line) } }
    }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { note("resumed of \(expectedTotalBytes)") }

    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let bytes = try? Data(contentsOf: location)
        note("finished \(bytes?.count ?? -1) \(location.pathExtension)")
    }

    func session(_ session: BackgroundSession, task: BackgroundDownloadTask, didCompleteWithError error: DownloadError?)
    {
        if let error { errors.withLock { $0.append(error) } }
        let line =
            switch error {
            case nil: "completed"
            case .cancelled(let data): "cancelled \(data == nil ? "without" : "with") bytes"
            case .failed(let failure, _): "failed \(failure.code)"
            case .refused: "refused"
            }
        note(line)
    }

    func session(
        _ session: BackgroundSession, task: BackgroundDownloadTask, didReceive challenge: AuthenticationChallenge,
        completionHandler: @escaping @Sendable (ChallengeDisposition) -> Void
    ) {
        note("challenged \(challenge.demand?.scheme ?? "") \(challenge.demand?.realm ?? "")")
        completionHandler(answersChallenge)
    }

    func session(
        _ session: BackgroundSession, task: BackgroundDownloadTask, linkDidExpireWithMessage message: String,
        completionHandler: @escaping @Sendable (URL?) -> Void
    ) {
        note("expired")
        completionHandler(newURL)
    }

    func sessionDidFinishEvents(
        for session: BackgroundSession, batch: FinishedBatch, completionHandler: @escaping @Sendable () -> Void
    ) {
        // First the handler: a test that has seen the call uses it.
        finishes.withLock { $0.append(completionHandler) }
        note("batch \(batch.number) \(batch.outcome)")
        if acknowledges { completionHandler() }
    }

    func session(_ session: BackgroundSession, didBecomeInvalidWithError error: FetchdError?) {
        note("invalid \(error.map { "\($0)" } ?? "")")
    }
}
