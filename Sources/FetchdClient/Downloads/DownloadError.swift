import Foundation

/// Why a download ended without a file.
public enum DownloadError: Error, Sendable, Equatable {
    /// A client cancelled it. There is resume data if that client asked for it.
    case cancelled(resumeData: Data?)
    /// The job failed. The service keeps its bytes for a while, so another task can continue from the resume data.
    case failed(DownloadFailure, resumeData: Data?)
    /// The service did not accept the task, or no longer has its file.
    case refused(FetchdError)

    /// For `downloadTask(withResumeData:)`.
    public var resumeData: Data? {
        switch self {
        case .cancelled(let data), .failed(_, let data): data
        case .refused: nil
        }
    }
}

extension DownloadError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .cancelled: "The download was cancelled."
        case .failed(let failure, _): failure.message
        case .refused(let error): error.description
        }
    }
}
