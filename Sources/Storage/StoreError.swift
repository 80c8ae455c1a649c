import Downloads
import GRDB
import Glibc

/// Why the store refused or failed. Each names the thing and says what to do where that helps; the API alone turns them into statuses.
public enum StoreError: Error, Sendable, Equatable {
    // Opening.
    case folderUnusable(path: String, why: String)
    case folderInUse(path: String)
    case databaseUnreadable(path: String, why: String)
    case databaseFromNewerVersion(path: String)
    /// Something that was committed is not there.
    case databaseIncomplete(path: String, Loss)
    /// Its pages contradict each other; `why` is SQLite's finding.
    case databaseDamaged(path: String, why: String)
    case markUnreadable(path: String)
    /// A restore into the folder was interrupted.
    case restoreUnfinished(path: String)

    // Restoring.
    case copyUnusable(path: String, why: String)

    // Asking.
    case noSuchSession(Name)
    case noSuchJob(JobID)
    case noSuchWebhook(Name)
    /// `index` is the place of the job that names it, where several were asked for.
    case unknownSession(Name, index: Int)
    case noSuchDelivery(DeliveryID)
    /// Deleted, it takes no more jobs; `index` as above, nil for a retry.
    case sessionFinishing(Name, index: Int?)
    /// `default` cannot be deleted.
    case sessionPermanent(Name)
    /// Nothing is posted to it before it is enabled again.
    case webhookDisabled(Name, reason: String)
    /// Nothing can be sent again to a webhook that was deleted.
    case webhookGone(Name)
    /// No event has this number yet.
    case noSuchEvent(EventID, last: EventID)
    /// What is asked for was pruned from the journal.
    case eventsPruned(after: EventID, firstAvailable: EventID)
    /// The job was changed since its client looked.
    case revisionChanged(JobID, now: Int)
    /// Its state does not let these fields be changed.
    case fieldsFixed(JobID, state: JobState.Name, fields: [String])
    /// The donor of a part has none, or is not at rest; `index` is the place of the job that asks for it.
    case noResumeData(JobID, why: String, index: Int)
    /// The key was used before, with another request.
    case idempotencyKeyReused(String)

    // Writing.
    /// The disk is full; nothing of what was asked is stored.
    case outOfSpace
    /// Another process holds a lock on the database.
    case busy
    /// The disk of the database failed; `why` says whether the change may be stored all the same.
    case diskFailed(why: String)
    case failed(why: String)

    // Closing.
    case notClosed(path: String, why: String)

    /// What of a database is lost, as the mark of its folder shows.
    public enum Loss: Sendable, Equatable {
        case missing, emptied
        /// It is the database of another folder, or was replaced.
        case foreign
        /// The last commits, in number, and probably why.
        case commits(Int64, Cause)

        public enum Cause: Sendable, Equatable { case olderCopy, logMissing, logDamaged }
    }
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
        case .databaseIncomplete(let path, let loss): Self.description(of: loss, path)
        case .databaseDamaged(let path, let why):
            "The database \(path) is damaged: \(why). Restore a copy (fetchd restore FILE), or recover what can be read with 'sqlite3 \(path) .recover', and restore that."
        case .markUnreadable(let path):
            "The mark \(path) is damaged: it does not show whether the database is complete. To go on with the database as it is, remove the mark; or restore a copy with 'fetchd restore FILE'."
        case .restoreUnfinished(let path):
            "A restore into \(path) did not finish. Run 'fetchd restore FILE' again; the database that was there is kept in the folder, with '.replaced' in its name."
        case .copyUnusable(let path, let why): "\(path) cannot be restored: \(why). Nothing was changed."
        case .noSuchSession(let session): "There is no session \(session)."
        case .noSuchJob(let job): "There is no job \(job)."
        case .noSuchWebhook(let webhook): "There is no webhook \(webhook)."
        case .unknownSession(let session, _):
            "There is no session \(session). Declare it first, with PUT /v1/sessions/\(session)."
        case .noSuchDelivery(let delivery): "There is no delivery \(delivery)."
        case .sessionFinishing(let session, _):
            "Session \(session) was deleted and is finishing: it takes no more jobs. Once it is gone it can be declared anew."
        case .sessionPermanent(let session): "The session \(session) is always there; it cannot be deleted."
        case .webhookDisabled(let webhook, let reason):
            "Webhook \(webhook) is disabled. \(reason) To enable it: POST .../webhooks/\(webhook)/enable."
        case .webhookGone(let webhook): "Webhook \(webhook) was deleted; what was meant for it cannot be sent any more."
        case .noSuchEvent(let event, let last): "There is no event \(event) yet; the last one is \(last)."
        case .eventsPruned(let after, let first):
            "Events after \(after) were removed from the journal, as they were older than is kept; the first there is is \(first)."
        case .idempotencyKeyReused(let key):
            "The Idempotency-Key '\(key)' was used with another request; a new request needs a new key."
        case .revisionChanged(let job, let now):
            "Job \(job) has changed since: its revision is \(now). Read it again, and decide anew."
        case .fieldsFixed(let job, let state, let fields):
            "Job \(job) is \(state.rawValue); \(fields.joined(separator: ", ")) cannot be changed any more."
        case .noResumeData(let job, let why, _): "The bytes of job \(job) cannot be had: \(why)."
        case .outOfSpace: "The disk of the data folder is full."
        case .busy: "The database is locked by another process. Try again."
        case .diskFailed(let why): "The disk of the database failed: \(why)."
        case .failed(let why): "The database failed: \(why)."
        case .notClosed(let path, let why):
            "The log \(path)-wal could not be copied into the database: \(why). It is kept: the next start reads it, and a copy of the database needs it."
        }
    }

    private static func description(of loss: Loss, _ path: String) -> String {
        let what =
            switch loss {
            case .missing: "The database \(path) is missing, although its folder was in use."
            case .emptied: "The database \(path) is empty, although its folder was in use."
            case .foreign: "The database \(path) is not the one that its folder was used with."
            case .commits(let count, .olderCopy):
                "The database \(path) is an older copy: the last \(count) changes are not in it."
            case .commits(let count, .logMissing):
                "The log \(path)-wal is missing or empty, and with it the last \(count) changes of the database."
            case .commits(let count, .logDamaged):
                "The log \(path)-wal is damaged or cut: the last \(count) changes of the database cannot be read."
            }
        let hasContent = loss != .missing && loss != .emptied
        let goingOn = hasContent ? " To go on without what is lost: fetchd restore \(path)." : ""
        return "\(what) Nothing was changed. Put the file back, or restore a copy: fetchd restore FILE.\(goingOn)"
    }

    /// A system call on the data folder that failed.
    static func folder(_ path: String, _ code: Int32) -> StoreError {
        code == ENOSPC || code == EDQUOT
            ? .outOfSpace : .folderUnusable(path: path, why: String(cString: strerror(code)))
    }

    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error)
        default: self = .failed(why: String(describing: error))
        }
    }

    private init(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_FULL: self = .outOfSpace
        case .SQLITE_BUSY: self = .busy
        // MISUSE: the connection was closed as the disk had failed, and could not be opened again.
        case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_MISUSE:
            self = .diskFailed(why: error.message ?? "\(error.extendedResultCode)")
        default: self = .failed(why: String(describing: error))
        }
    }
}
