import Foundation

extension SessionEvent: Decodable {
    private enum Name: String, CodingKey { case id, type, time, session, job, data }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        let (id, type) = (
            try container.decode(Int64.self, forKey: .id), try container.decode(String.self, forKey: .type)
        )
        self.id = id
        time = try container.decode(Date.self, forKey: .time)
        session = try container.decode(String.self, forKey: .session)
        job = try container.decodeIfPresent(String.self, forKey: .job)
        func data<Document: Decodable>(_ type: Document.Type) throws -> Document {
            try container.decode(type, forKey: .data)
        }
        var snapshot: JobDocument?
        switch type {
        case "job.created": kind = .jobCreated
        case "job.started": kind = .jobStarted
        case "job.resumed":
            let resumed = try data(Resumed.self)
            kind = .jobResumed(offset: resumed.offset, bytesExpected: resumed.bytesExpected)
        case "job.restarted": kind = .jobRestarted(why: try data(Restarted.self).why)
        case "job.waiting":
            let waiting = try data(Waiting.self)
            let challenge = AuthenticationChallenge(demand: waiting.challenge, message: waiting.failure.message)
            kind = .jobWaiting(reason: waiting.reason, challenge)
        case "job.paused": kind = .jobPaused
        case "job.deleted": kind = .jobDeleted
        case "job.succeeded", "job.failed", "job.cancelled":
            let job = try data(Ended.self).snapshot
            snapshot = job
            kind =
                switch job.result {
                case .success(let file): .jobSucceeded(file)
                case .failure(let error): .jobEnded(error)
                case nil: .other(type)
                }
        case "session.finished":
            let finish = try data(FinishDocument.self)
            kind = .sessionFinished(
                FinishedBatch(event: id, number: finish.batch, outcome: finish.outcome, counts: finish.counts))
        default: kind = .other(type)
        }
        self.snapshot = snapshot
        taskIdentifier = snapshot?.taskIdentifier
    }
}

private struct Resumed: Decodable {
    let offset: Int64
    let bytesExpected: Int64?
}

private struct Restarted: Decodable {
    let why: String
}

private struct Waiting: Decodable {
    let reason: String
    let challenge: AuthenticationChallenge.Demand?
    let failure: DownloadFailure
}

private struct Ended: Decodable {
    let snapshot: JobDocument
}

/// A page of the journal.
struct EventPage: Decodable {
    let events: [SessionEvent]
    let nextAfter: Int64
}
