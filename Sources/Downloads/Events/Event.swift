import Foundation

/// A fact about a job or session. An event has a number, is written once and never changes.
public struct Event: Sendable, Equatable {
    public var id: EventID
    public var type: EventType
    public var time: Date
    public var session: Name
    public var job: JobID?
    /// A JSON object, as it was written to the journal.
    public var data: String

    public init(id: EventID, type: EventType, time: Date, session: Name, job: JobID?, data: String) {
        self.id = id
        self.type = type
        self.time = time
        self.session = session
        self.job = job
        self.data = data
    }
}

/// The number of an event in the journal. Numbers are assigned in commit order and never reused. They are not
/// necessarily consecutive.
public typealias EventID = Int64
