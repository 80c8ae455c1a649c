import Downloads

/// An event of a job that is not in the journal yet.
struct NewEvent {
    var type: EventType
    var session: Name
    var job: JobID
    /// A JSON object.
    var data: String

    init(_ type: EventType, of job: Job, data: String) {
        (self.type, session, self.job, self.data) = (type, job.session, job.id, data)
    }
}
