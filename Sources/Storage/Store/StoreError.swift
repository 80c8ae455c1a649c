import Downloads
import Glibc
import HTTPSemantics

/// An error of the store. Each names its subject, and says how to correct it where possible. Only the API maps them to
/// HTTP statuses.
public enum StoreError: Error, Sendable, Equatable {
    // Opening.
    case folderUnusable(path: String, why: String)
    case folderInUse(path: String)
    /// Other users can read the folder, and fetchd cannot change that.
    case folderNotPrivate(path: String)
    case databaseUnreadable(path: String, why: String)
    /// `schema` is the schema version of the database, and `known` the latest one of this program.
    case databaseFromNewerVersion(path: String, schema: Int, known: Int)
    /// The database is of a version before 0.2.0, or of a start of 0.2.0 that was interrupted.
    case databaseFromOlderVersion(path: String, schema: Int)
    /// Committed data is missing.
    case databaseIncomplete(path: String, Loss)
    /// SQLite found inconsistent pages; `why` is its message.
    case databaseDamaged(path: String, why: String)
    case markUnreadable(path: String)
    /// A restore into the folder was interrupted.
    case restoreUnfinished(path: String)

    /// The PostgreSQL server, its settings or its address do not fit. `why` is a sentence that says how to correct it.
    case serverUnsuitable(why: String)

    /// The key cannot be read or written. `why` is a sentence.
    case keyUnusable(why: String)
    /// The store was sealed with another key. `source` names the given one.
    case keyWrong(source: String, path: String)

    // Restoring.
    case copyUnusable(path: String, why: String)

    // Making a backup.
    case backupFailed(path: String, why: String)

    // Requests.
    case noSuchSession(Name)
    case noSuchJob(JobID)
    case noSuchWebhook(Name)
    case noSuchConsumer(Name)
    /// The consumer with this name is of sessions that the caller may not see.
    case consumerOfOthers(Name)
    case tooManyConsumers(limit: Int)
    /// `index` is the index of the job that names the session, where the request has several jobs.
    case unknownSession(Name, index: Int)
    case noSuchDelivery(DeliveryID)
    case noSuchToken(TokenID)
    /// The database has no node with this number.
    case noSuchNode(Int64)
    /// The node cannot be forgotten. `why` says what it still has.
    case nodeInUse(Int64, why: String)
    /// The session was deleted and accepts no more jobs. `index` as above; nil for a retry.
    case sessionFinishing(Name, index: Int?)
    /// The session `default` cannot be deleted.
    case sessionPermanent(Name)
    /// fetchd posts nothing to the webhook until it is enabled.
    case webhookDisabled(Name, reason: String)
    /// The webhook of the delivery was deleted.
    case webhookGone(Name)
    /// No event has this identifier yet.
    case noSuchEvent(EventID, last: EventID)
    /// The requested events were pruned.
    case eventsPruned(after: EventID, firstAvailable: EventID)
    /// The client has read events that the database has lost.
    case eventsLost(after: EventID, firstAvailable: EventID)
    /// The job has another revision than the client expects.
    case revisionChanged(JobID, now: Int)
    /// The session has another revision than the client expects; nil: it does not exist.
    case sessionChanged(Name, now: Int?)
    /// The state of the job does not allow a change of these fields.
    case fieldsFixed(JobID, state: JobState.Kind, fields: [String])
    /// The donor has no part, or is still active. `index` is the index of the job that names it.
    case noResumeData(JobID, why: String, index: Int)
    /// The job has no place in the queue, or there is no such place.
    case moveRefused(JobID, why: String)
    /// Another job of the session has this identifier in aria2's RPC.
    case gidTaken(GID)
    /// The token of the request may not use more.
    case quotaExceeded(ExceededQuota)
    /// Another request has used this key.
    case idempotencyKeyReused(String)
    /// The request was carried out, but the key that sealed its first answer is lost.
    case answerLost(String)
    /// Another node imports the list now.
    case importRunning(ImportID)
    /// Another request has ended the import, or continues it.
    case importEnded(ImportID)
    /// Members of the webhook are lost with the key that sealed them, so it cannot be enabled.
    case webhookSecretsLost(Name, Set<SecretMember>)
    /// The placeholder of a secret stands for a header that the session does not have.
    case placeholderUnknown(header: String)

    // Writing.
    /// The disk is full. Nothing of the request is stored.
    case outOfSpace
    /// Another process holds a lock on the database.
    case busy
    /// The disk of the database failed. `why` says whether the change may be stored nevertheless.
    case diskFailed(why: String)
    case failed(why: String)
    /// The PostgreSQL server does not answer, or does not accept changes now. `why` says whether the change may be stored
    /// nevertheless.
    case databaseAway(why: String)
    /// Another service uses the PostgreSQL database. Its jobs are of that service now.
    case databaseInUse(name: String)
    /// Other nodes have taken over the work of this one, or another process is this node.
    case nodeReplaced
    /// The PostgreSQL server lacks changes that this process has stored or read.
    case changesLost

    // Reading.
    /// A sealed value was changed, or moved from another place.
    case sealBroken(place: String)

    // Closing.
    case notClosed(path: String, why: String)

    /// Which data is lost, as far as the mark shows.
    public enum Loss: Sendable, Equatable {
        case missing, emptied
        /// The database belongs to another folder, or another database has replaced it.
        case foreign
        /// The number of lost commits, and the probable cause.
        case commits(Int64, Cause)

        public enum Cause: Sendable, Equatable { case olderCopy, logMissing, logDamaged }
    }
}

extension StoreError {
    /// Whether the same call can succeed later without help: after the disk has free space or works again, or after
    /// another process has unlocked the database.
    public var canPass: Bool {
        switch self {
        case .outOfSpace, .busy, .diskFailed, .databaseAway, .databaseInUse, .nodeReplaced, .changesLost: true
        default: false
        }
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .folderUnusable(let path, let why): "The data folder \(path) cannot be used: \(why)."
        case .folderInUse(let path):
            "The data folder \(path) belongs to another fetchd that is running. Stop it, or start this one with another --data-dir."
        case .folderNotPrivate(let path):
            "Other users have permissions on the data folder \(path), which holds passwords and secrets, and fetchd cannot remove these permissions. Run 'chmod 700 \(path)' as its owner, or start fetchd with a --data-dir below it: fetchd creates that folder for itself alone."
        case .databaseUnreadable(let path, let why):
            "The database \(path) cannot be read: \(why). fetchd has not changed it. Restore a copy, or move the file away to start with an empty database."
        case .databaseFromNewerVersion(let path, let schema, let known):
            "The database \(path) has the schema version \(schema), and this version of fetchd knows versions up to \(known): a newer fetchd has written it. Run the newer version, restore a backup that this version knows (fetchd restore FILE), or start this one with another --data-dir."
        case .databaseFromOlderVersion(let path, let schema):
            "The database \(path) has the schema version \(schema)\(schema < Schema.baseline ? "" : ", and fetchd 0.2.0 was interrupted while it upgraded it"). This version of fetchd upgrades databases of fetchd 0.2.0 (schema version \(Schema.baseline)) and later. Nothing was changed. Upgrade with fetchd 0.2.0 first: restore a backup with it, start it once with the database, and stop it."
        case .databaseIncomplete(let path, let loss): Self.description(of: loss, path)
        case .databaseDamaged(let path, let why):
            "The database \(path) is damaged: \(why). Restore a copy (fetchd restore FILE), or recover the readable data with 'sqlite3 \(path) .recover', and restore that."
        case .markUnreadable(let path):
            "The mark \(path) is damaged: it does not show whether the database is complete. To continue with this database, remove the mark. To restore a copy, run 'fetchd restore FILE'."
        case .restoreUnfinished(let path):
            "A restore into \(path) did not finish, and its copy is lost. Run 'fetchd restore FILE' again. The previous database is still in the folder, with '.replaced' in its name."
        case .keyUnusable(let why), .serverUnsuitable(let why): why
        case .keyWrong(let source, let path):
            "The secrets in \(path) are sealed with another key than \(source). Nothing was changed. Start fetchd with the right key, or with a key file that has both keys, each on its line. If the right key is lost, start fetchd once with --accept-lost-secrets. \(LostSecrets.consequence)"
        case .answerLost(let key):
            "The request with the Idempotency-Key '\(key)' was carried out, but the key that sealed its answer is lost. Look for its jobs in GET /v1/jobs."
        case .webhookSecretsLost(let webhook, let members):
            "The key that sealed members of webhook \(webhook) is lost: \(members.listed). Declare the webhook again, with PUT and these members. For the secret alone, POST .../webhooks/\(webhook)/rotate-secret is enough."
        case .placeholderUnknown(let header):
            "The value \(HeaderField.placeholder) keeps the stored value of \(header), but the session has no such header. Send its value."
        case .sealBroken(let place):
            "The sealed value \(place) cannot be opened: it was changed, or moved from another place. Restore a copy of the database."
        case .copyUnusable(let path, let why): "\(path) cannot be restored: \(why). Nothing was changed."
        case .backupFailed(let path, let why): "The backup \(path) was not made: \(why)."
        case .noSuchSession(let session): "There is no session \(session)."
        case .noSuchJob(let job): "There is no job \(job)."
        case .noSuchWebhook(let webhook): "There is no webhook \(webhook)."
        case .noSuchConsumer(let consumer): "There is no consumer \(consumer)."
        case .consumerOfOthers(let consumer): "The consumer \(consumer) is of other sessions. Choose another name."
        case .tooManyConsumers(let limit):
            "There are \(limit) consumers, and a service has no more. Delete one that is not used: DELETE /v1/consumers/{name}."
        case .unknownSession(let session, _):
            "There is no session \(session). Declare it first, with PUT /v1/sessions/\(session)."
        case .noSuchDelivery(let delivery): "There is no delivery \(delivery)."
        case .noSuchToken(let token): "There is no token \(token)."
        case .noSuchNode(let number): "There is no node \(number)."
        case .nodeInUse(let number, let why): "Node \(number) cannot be forgotten: \(why)."
        case .sessionFinishing(let session, _):
            "Session \(session) was deleted and is finishing: it takes no more jobs. Declare it again after it is removed."
        case .sessionPermanent(let session): "The session \(session) is permanent; it cannot be deleted."
        case .webhookDisabled(let webhook, let reason):
            "Webhook \(webhook) is disabled. \(reason) To enable it, send POST .../webhooks/\(webhook)/enable."
        case .webhookGone(let webhook): "Webhook \(webhook) was deleted, so its deliveries cannot be sent again."
        case .noSuchEvent(let event, let last): "There is no event \(event) yet; the last event is \(last)."
        case .eventsPruned(let after, let first):
            "Events after \(after) were pruned from the journal because of their age. The first available event is \(first)."
        case .eventsLost(let after, let first):
            "The event \(after) is lost: the database server continues from an earlier state, for example after a failover. The next available event is \(first). Read the jobs again."
        case .importRunning: "Another node imports this list now. Repeat the request to get its answer."
        case .importEnded: "Another request has ended the import of this list, or continues it."
        case .idempotencyKeyReused(let key):
            "The Idempotency-Key '\(key)' was used with another request; a new request needs a new key."
        case .revisionChanged(let job, let now):
            "Job \(job) has changed since: its revision is \(now). Read it again and repeat the request with that revision."
        case .sessionChanged(let session, let now?):
            "Session \(session) has changed since: its revision is \(now). Read it again and repeat the request with that revision."
        case .sessionChanged(let session, nil): "There is no session \(session)."
        case .fieldsFixed(let job, let state, let fields):
            "Job \(job) is \(state.rawValue); \(fields.joined(separator: ", ")) cannot be changed in this state."
        case .noResumeData(let job, let why, _): "Job \(job) has no part that can be continued: \(why)."
        case .moveRefused(let job, let why): "Job \(job) cannot be moved: \(why)."
        case .gidTaken(let gid): "GID \(gid) belongs to another download."
        case .quotaExceeded(let quota): quota.description
        case .outOfSpace: "The disk of the data folder is full."
        case .busy: "The database is locked by another process. Try again."
        case .diskFailed(let why): "The disk of the database failed: \(why)."
        case .failed(let why): "The database failed: \(why)."
        case .databaseInUse(let name): "The database \(name) is used by another fetchd."
        case .nodeReplaced:
            "Other nodes have taken over the jobs of this one, because it did not renew its lease in time, or another process has the same data folder. fetchd ends with status 75, so that it is started again."
        case .changesLost:
            "The PostgreSQL server lacks changes that it had stored: it is probably an asynchronous standby that has taken the place of the primary. fetchd ends with status 75, so that it is started again, and continues from what the server has."
        case .databaseAway(let why): "The PostgreSQL server cannot be used now: \(why)."
        case .notClosed(let path, let why):
            "The log \(path)-wal could not be copied into the database: \(why). The log stays: the next start reads it, and a backup of the database must include it."
        }
    }

    private static func description(of loss: Loss, _ path: String) -> String {
        let what =
            switch loss {
            case .missing: "The database \(path) is missing, but its folder has been used."
            case .emptied: "The database \(path) is empty, but its folder has been used."
            case .foreign: "The database \(path) does not belong to its folder."
            case .commits(let count, .olderCopy):
                "The database \(path) is an older copy: the last \(count) changes are missing."
            case .commits(let count, .logMissing):
                "The log \(path)-wal is missing or empty, and with it the last \(count) changes of the database."
            case .commits(let count, .logDamaged):
                "The log \(path)-wal is damaged or cut: the last \(count) changes of the database cannot be read."
            }
        let hasContent = loss != .missing && loss != .emptied
        let goingOn = hasContent ? " To continue without the lost data, run fetchd restore \(path)." : ""
        return "\(what) Nothing was changed. Put the file back, or restore a copy with fetchd restore FILE.\(goingOn)"
    }

    /// The error of a system call on the data folder.
    package static func folder(_ path: String, _ code: Int32) -> StoreError {
        code == ENOSPC || code == EDQUOT
            ? .outOfSpace : .folderUnusable(path: path, why: String(cString: strerror(code)))
    }
}
