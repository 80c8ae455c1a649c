/// One run of a service that shares its PostgreSQL database with others. A service that starts again is the same node with a
/// larger epoch.
public struct Node: Sendable, Hashable {
    /// Identifies the service in its database; at least 1.
    public let number: Int64
    /// Raised when the service starts, and when others take over its work; at least 1.
    public let epoch: Int64

    public init(number: Int64, epoch: Int64) {
        self.number = number
        self.epoch = epoch
    }
}
