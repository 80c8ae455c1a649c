import ArgumentParser
import Formats

/// A number of bytes, at least 1: `500000`, `500K`, `2M`, `1.5Gi`.
struct ByteCount: ExpressibleByArgument, Sendable {
    let count: Int64

    init?(argument: String) {
        guard let bytes = Quantity.bytes(argument), bytes >= 1, bytes < Self.limit else { return nil }
        count = bytes
    }

    /// The service accepts no larger number.
    private static let limit: Int64 = 1_000_000_000_000_000_000
}

/// A number of bytes, or `none`, which removes a limit.
struct ByteLimit: ExpressibleByArgument, Sendable {
    let count: Int64?

    init?(argument: String) {
        if argument == "none" {
            count = nil
        } else if let bytes = ByteCount(argument: argument) {
            count = bytes.count
        } else {
            return nil
        }
    }
}
