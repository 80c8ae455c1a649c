/// Seconds; absent ones fall back to the session's, then to the defaults.
public struct Timeouts: Sendable, Equatable, Codable {
    /// The longest silence of the server.
    public var requestSeconds: Double?
    /// The longest a connection may take to stand.
    public var connectSeconds: Double?
    /// The longest a job may take from its first attempt on, pauses not counted.
    public var resourceSeconds: Double?

    public init(requestSeconds: Double? = nil, connectSeconds: Double? = nil, resourceSeconds: Double? = nil) {
        self.requestSeconds = requestSeconds
        self.connectSeconds = connectSeconds
        self.resourceSeconds = resourceSeconds
    }

    public static let defaults = Timeouts(requestSeconds: 60, connectSeconds: 30, resourceSeconds: 604_800)
}
