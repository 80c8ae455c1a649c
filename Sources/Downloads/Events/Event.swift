import Foundation

/// A fact about a job or session: numbered, written once, never changed.
public struct Event: Sendable, Equatable {
    public var id: EventID
    public var type: EventType
    public var time: Date
    public var session: Name
    public var job: JobID?
    /// A JSON object, as it was written into the journal.
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

/// A number in the journal: assigned in commit order, never used twice, not necessarily consecutive.
public typealias EventID = Int64
