import ArgumentParser

/// A checksum, such as `sha-256:HEX`.
struct ChecksumArgument: ExpressibleByArgument, Sendable {
    let checksum: NewChecksum

    init?(argument: String) {
        guard let checksum = NewChecksum(argument) else { return nil }
        self.checksum = checksum
    }
}
