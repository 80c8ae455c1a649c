/// Why a text is not JSON.
public struct JSONFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number of bytes before the fault.
    public let offset: Int
    public let reason: String

    public var description: String { "\(reason), at byte \(offset)" }
}
