/// In seconds. Missing values are taken from the session, then from the defaults.
public struct Timeouts: Sendable, Equatable, Codable {
    /// The longest time in which the server sends nothing.
    public var requestSeconds: Double?
    /// The longest time to establish a connection.
    public var connectSeconds: Double?
    /// The longest time for the job, from its first attempt, without pauses.
    public var resourceSeconds: Double?

    public init(requestSeconds: Double? = nil, connectSeconds: Double? = nil, resourceSeconds: Double? = nil) {
        self.requestSeconds = requestSeconds
        self.connectSeconds = connectSeconds
        self.resourceSeconds = resourceSeconds
    }

    public static let defaults = Timeouts(requestSeconds: 60, connectSeconds: 30, resourceSeconds: 604_800)
}
