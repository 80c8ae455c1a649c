/// Why a URL is not a valid rehearsal.
public struct RehearsalFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// Completes "The URL ...".
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
