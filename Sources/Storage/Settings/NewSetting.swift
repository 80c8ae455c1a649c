import Formats

/// A setting of the service that a client changes.
public struct NewSetting: Sendable {
    public var name: String
    /// nil removes the stored value: the value at the start applies again.
    public var value: JSON?
    /// The value at the start, for the audit log.
    public var start: JSON

    public init(name: String, value: JSON?, start: JSON) {
        (self.name, self.value, self.start) = (name, value, start)
    }
}
