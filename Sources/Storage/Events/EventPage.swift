import Downloads

public struct EventPage: Sendable {
    public var events: [Event]
    /// What to pass as `after` to read on: nothing that matches is missed.
    public var nextAfter: EventID

    public init(events: [Event], nextAfter: EventID) {
        self.events = events
        self.nextAfter = nextAfter
    }
}
