/// Why bytes cannot be decoded.
public enum InflationError: Error, Sendable, Equatable {
    /// The bytes are not of the coding, or are damaged. The text is zlib's.
    case invalid(String)
    /// The coded bytes end too early.
    case incomplete
}
