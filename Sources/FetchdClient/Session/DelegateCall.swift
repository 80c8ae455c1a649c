/// A call that an event leads to.
enum DelegateCall {
    case resumed(BackgroundDownloadTask, offset: Int64, expected: Int64?)
    case finished(BackgroundDownloadTask, FinishedFile)
    case completed(BackgroundDownloadTask, DownloadError?)
    case challenged(BackgroundDownloadTask, AuthenticationChallenge)
    case expired(BackgroundDownloadTask, String)
    case offline(BackgroundDownloadTask)
    case batchFinished(FinishedBatch)
}
