import Downloads

/// Why the store refused or failed. Each names the thing and says what to do where that helps; the API alone turns them into statuses.
public enum StoreError: Error, Sendable, Equatable {
    // Opening.
    case folderUnusable(path: String, why: String)
    case folderInUse(path: String)
    case databaseUnreadable(path: String, why: String)
    case databaseFromNewerVersion(path: String)

    // Asking.
    case noSuchSession(Name)
    case noSuchJob(JobID)
    case noSuchWebhook(Name)
    /// `index` is the place of the job in the batch that was asked for.
    case unknownSession(Name, index: Int)

    // Writing.
    /// The disk is full; nothing of what was asked is stored.
    case outOfSpace
    case failed(why: String)
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .folderUnusable(let path, let why): "The data folder \(path) cannot be used: \(why)."
        case .folderInUse(let path):
            "The data folder \(path) belongs to another fetchd that is running. Stop it, or give this one another --data-dir."
        case .databaseUnreadable(let path, let why):
            "The database \(path) cannot be read: \(why). It is left as it is; restore a copy, or move it away to begin anew."
        case .databaseFromNewerVersion(let path):
            "The database \(path) was written by a newer version of fetchd. Run that version, or give this one another --data-dir."
        case .noSuchSession(let session): "There is no session \(session)."
        case .noSuchJob(let job): "There is no job \(job)."
        case .noSuchWebhook(let webhook): "There is no webhook \(webhook)."
        case .unknownSession(let session, let index):
            "There is no session \(session), which job \(index) names. Declare it with PUT /v1/sessions/\(session)."
        case .outOfSpace: "The disk of the data folder is full."
        case .failed(let why): "The database failed: \(why)."
        }
    }
}
