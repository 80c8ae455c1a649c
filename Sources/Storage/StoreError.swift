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
        case .failed(let why): "The database failed: \(why)."
        }
    }
}
