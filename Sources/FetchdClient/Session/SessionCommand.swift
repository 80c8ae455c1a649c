import Foundation

/// What a caller asked a session to do. Commands are carried out in their order, and repeated until the service answers.
enum SessionCommand: Sendable {
    case submit(BackgroundDownloadTask, PendingTask, isRestored: Bool)
    case reject(BackgroundDownloadTask, FetchdError)
    case resume(BackgroundDownloadTask)
    case suspend(BackgroundDownloadTask)
    case cancel(BackgroundDownloadTask, producesResumeData: Bool, @Sendable (Data?) -> Void)
    case supply(JobHelp, to: BackgroundDownloadTask, event: Int64)
    case acknowledge
}

/// The values for which a job waited, as the body of a PATCH.
struct JobHelp: Sendable, Encodable {
    var credentials: Credential?
    var url: String?
}
