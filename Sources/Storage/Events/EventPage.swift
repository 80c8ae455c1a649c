import Downloads

public struct EventPage: Sendable {
    public var events: [Event]
    /// The `after` of the next page. No matching event is skipped.
    public var nextAfter: EventID

    public init(events: [Event], nextAfter: EventID) {
        self.events = events
        self.nextAfter = nextAfter
    }
}
