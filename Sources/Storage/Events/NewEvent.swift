import Downloads

/// An event of a job that is not in the journal yet.
struct NewEvent {
    var type: EventType
    var job: Job
    /// A JSON object.
    var data: String
}
