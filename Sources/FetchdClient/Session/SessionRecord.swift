import Foundation

/// The position of a client in the journal: the last call that its delegate has received. It is a small file, replaced
/// atomically after each delegate call.
struct SessionRecord: Codable, Equatable, Sendable {
    /// All calls for events up to this number have been made.
    private(set) var event: Int64
    /// The event whose calls are under way, and how many of them have been made.
    private(set) var partial: Partial?
    /// Finishes and challenges whose completion handler has not done its work. A later process gets them again.
    private(set) var openFinishes: [Int64] = []
    private(set) var openChallenges: [Int64] = []
    /// The finish up to which the service must know the acknowledgement.
    private(set) var acknowledged: Int64 = 0
    /// Finishes whose completion handler was called while an earlier one is open.
    private var answered: [Int64] = []

    struct Partial: Codable, Equatable, Sendable {
        let event: Int64
        var calls: Int
    }

    init(after event: Int64) { self.event = event }

    /// How many calls of this event have been made.
    func calls(of event: Int64) -> Int { partial?.event == event ? partial?.calls ?? 0 : 0 }

    mutating func recordCall(of event: Int64) { partial = Partial(event: event, calls: calls(of: event) + 1) }

    mutating func recordEvent(_ event: Int64) {
        self.event = max(self.event, event)
        partial = nil
    }

    /// The events to deliver again, in their order.
    var open: [Int64] { (openFinishes + openChallenges).sorted() }

    mutating func openedFinish(_ event: Int64) {
        if !openFinishes.contains(event) { openFinishes.append(event) }
    }

    mutating func openedChallenge(_ event: Int64) {
        if !openChallenges.contains(event) { openChallenges.append(event) }
    }

    mutating func closedChallenge(_ event: Int64) { openChallenges.removeAll { $0 == event } }

    func isAnswered(_ finish: Int64) -> Bool { finish <= acknowledged || answered.contains(finish) }

    /// The completion handler of a finish was called.
    mutating func answeredFinish(_ event: Int64) {
        openFinishes.removeAll { $0 == event }
        answered.append(event)
        // An acknowledgement covers all earlier finishes, so it waits for their handlers.
        let due = answered.filter { finish in openFinishes.allSatisfy { $0 > finish } }
        acknowledged = max(acknowledged, due.max() ?? 0)
        answered.removeAll { $0 <= acknowledged }
    }
}
