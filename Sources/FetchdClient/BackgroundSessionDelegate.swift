import Foundation

/// Follows the tasks of a session. All calls come one after the other, in the order of the journal.
///
/// The requirements are `async`, so a method can be an ordinary function, as with `URLSession`, or an asynchronous one that
/// waits for its own work. A call is recorded after the method has returned. A process that dies in a method gets that call
/// again when it starts again, and no call that it got before. See <doc:Promises>.
public protocol BackgroundSessionDelegate: AnyObject, Sendable {
    /// Bytes have arrived. These calls are not repeated: a process that was away gets only the latest numbers.
    ///
    /// `bytesWritten` counts since the last call of this process. `totalBytesExpectedToWrite` is -1 if the server has not sent
    /// the size.
    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64) async

    /// The download continues from an offset, after a crash, a pause or a lost connection.
    ///
    /// `expectedTotalBytes` is -1 if the server has not sent the size.
    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64) async

    /// Where the complete file goes; nil, the default: `didFinishDownloadingTo` gets a temporary file, or the file in its place.
    ///
    /// Folders that do not exist are created, and a file that exists there is replaced. With a `downloadsFolder`, the file is
    /// copied. After a crash, the method can be called again for the same task.
    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, destinationFor temporaryURL: URL,
        response: DownloadResponse
    ) async -> URL?

    /// The file is complete and verified.
    ///
    /// `location` is a temporary file, which is removed after the method has returned, so move it. If the configuration has a
    /// `downloadsFolder`, it is the file in its place, which stays.
    func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didFinishDownloadingTo location: URL
    ) async

    /// The task has ended: the last call for it.
    func session(
        _ session: BackgroundSession, task: BackgroundDownloadTask, didCompleteWithError error: DownloadError?) async

    /// The server demands credentials. Only if the configuration's `waitsFor` has `.credentials`.
    ///
    /// `completionHandler` may be called later. Until it has taken effect, each new process gets the challenge.
    func session(
        _ session: BackgroundSession, task: BackgroundDownloadTask, didReceive challenge: AuthenticationChallenge,
        completionHandler: @escaping @Sendable (ChallengeDisposition) -> Void) async

    /// The link has expired. Only if the configuration's `waitsFor` has `.url`.
    ///
    /// `completionHandler` takes the new URL; nil cancels the task. It may be called later, as for a challenge.
    func session(
        _ session: BackgroundSession, task: BackgroundDownloadTask,
        linkDidExpireWithMessage message: String, completionHandler: @escaping @Sendable (URL?) -> Void) async

    /// The machine of the service has no network. The task continues by itself.
    func session(_ session: BackgroundSession, taskIsWaitingForConnectivity task: BackgroundDownloadTask) async

    /// All tasks of a batch have ended, and all their calls have been made.
    ///
    /// `completionHandler` acknowledges the finish. It may be called later and from any thread. When it has returned, no process
    /// gets this finish again.
    func sessionDidFinishEvents(
        for session: BackgroundSession, batch: FinishedBatch, completionHandler: @escaping @Sendable () -> Void) async

    /// The service has removed events that this client did not get, because it was away for longer than the service keeps
    /// them. Tasks that have ended in the meantime complete after this call.
    func session(_ session: BackgroundSession, didLoseEventsBefore event: Int64) async

    /// There are no more calls. `error` is nil if the session was invalidated by its own process.
    ///
    /// With an error, such as a token that is no longer valid, the tasks exist at the service: a new session with the same
    /// identifier can be opened at once, and has them.
    func session(_ session: BackgroundSession, didBecomeInvalidWithError error: FetchdError?) async
}

extension BackgroundSessionDelegate {
    public func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) async {}

    public func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) async {}

    public func session(
        _ session: BackgroundSession, downloadTask: BackgroundDownloadTask, destinationFor temporaryURL: URL,
        response: DownloadResponse
    ) async -> URL? { nil }

    public func session(
        _ session: BackgroundSession, task: BackgroundDownloadTask, didCompleteWithError error: DownloadError?
    ) async {}

    public func session(
        _ session: BackgroundSession, task: BackgroundDownloadTask, didReceive challenge: AuthenticationChallenge,
        completionHandler: @escaping @Sendable (ChallengeDisposition) -> Void
    ) async { completionHandler(.performDefaultHandling) }

    public func session(
        _ session: BackgroundSession, task: BackgroundDownloadTask,
        linkDidExpireWithMessage message: String, completionHandler: @escaping @Sendable (URL?) -> Void
    ) async {}

    public func session(_ session: BackgroundSession, taskIsWaitingForConnectivity task: BackgroundDownloadTask) async {
    }

    public func sessionDidFinishEvents(
        for session: BackgroundSession, batch: FinishedBatch, completionHandler: @escaping @Sendable () -> Void
    ) async { completionHandler() }

    public func session(_ session: BackgroundSession, didLoseEventsBefore event: Int64) async {}

    public func session(_ session: BackgroundSession, didBecomeInvalidWithError error: FetchdError?) async {}
}

/// A server demands credentials, and the download waits for them.
public struct AuthenticationChallenge: Sendable, Equatable {
    /// The server's words (RFC 9110, section 11.6.1).
    public struct Demand: Sendable, Equatable, Decodable {
        /// The first scheme that the server names, in lower case, such as `basic`.
        public let scheme: String
        /// What the credentials are for.
        public let realm: String?
    }

    /// Nil if the server did not say how.
    public let demand: Demand?
    /// Whether the download had no credentials, or the server refused them.
    public let message: String
}

/// The answer to a challenge.
public enum ChallengeDisposition: Sendable, Equatable {
    /// The download continues with this credential.
    case useCredential(Credential)
    /// The download keeps waiting. Another client can supply credentials, or a later process gets the challenge again.
    case performDefaultHandling
    /// The download is cancelled. Its bytes are discarded.
    case cancelAuthenticationChallenge
}
