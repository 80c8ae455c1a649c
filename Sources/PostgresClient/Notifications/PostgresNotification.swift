/// A message of `NOTIFY`.
public struct PostgresNotification: Sendable, Hashable {
    public var channel: String
    /// Empty if the sender gave none.
    public var payload: String

    public init(channel: String, payload: String = "") {
        self.channel = channel
        self.payload = payload
    }
}
