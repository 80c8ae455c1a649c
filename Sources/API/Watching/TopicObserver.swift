/// Waits in the feed for a change of its topics.
protocol TopicObserver: AnyObject, Sendable {
    var topics: [Topic] { get }

    /// A topic may have changed.
    func ring()
    /// The deadline has passed.
    func expire()
    /// The wait is over: the client disconnected, or the service stops.
    func close()
}
