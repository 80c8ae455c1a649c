import ArgumentParser

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
