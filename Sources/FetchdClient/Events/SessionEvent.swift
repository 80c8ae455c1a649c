import Foundation

/// An event of the journal: a fact about a job or a session. It is written once and never changes.
public struct SessionEvent: Sendable, Equatable {
    /// What happened.
    public enum Kind: Sendable, Equatable {
        case jobCreated
        case jobStarted
        /// The download continues from this offset.
        case jobResumed(offset: Int64, bytesExpected: Int64?)
        /// The download begins again at the first byte.
        case jobRestarted(why: String)
        /// The download waits: for a retry, a network, room, storage, credentials or another URL.
        case jobWaiting(reason: String, AuthenticationChallenge)
        case jobPaused
        case jobSucceeded(FinishedFile)
        /// The download failed or was cancelled.
        case jobEnded(DownloadError)
        case jobDeleted
        case sessionFinished(FinishedBatch)
        /// Another event, with its type. Later versions of the service may add types.
        case other(String)
    }

    /// Increases in the order in which things happened. Numbers need not be consecutive.
    public let id: Int64
    public let time: Date
    public let session: String
    /// The job, if the event is about one.
    public let job: String?
    public let kind: Kind

    /// The task that the job belongs to, where the event says it.
    let taskIdentifier: String?
    let snapshot: JobDocument?

    public static func == (one: Self, other: Self) -> Bool { one.id == other.id && one.kind == other.kind }
}
