/// Why text is not JSON.
public struct JSONFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// Bytes before the place.
    public let offset: Int
    public let reason: String

    public var description: String { "\(reason), at byte \(offset)" }
}
