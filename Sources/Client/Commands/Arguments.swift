import ArgumentParser

/// A number of bytes, with or without a binary unit: `500000`, `500K`, `2M`, `1.5G`.
struct ByteCount: ExpressibleByArgument, Sendable {
    let count: Int64

    init?(argument: String) {
        let units: [Character: Double] = ["K": 1024, "M": 1_048_576, "G": 1_073_741_824, "T": 1_099_511_627_776]
        let unit = argument.last.flatMap { units[Character($0.uppercased())] }
        guard let number = Double(unit == nil ? argument : String(argument.dropLast())), number.isFinite, number > 0
        else { return nil }
        let bytes = number * (unit ?? 1)
        guard bytes >= 1, bytes < 1e18 else { return nil }
        count = Int64(bytes)
    }
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

/// A header: `Name: value`.
struct HeaderArgument: ExpressibleByArgument, Sendable {
    let name: String
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"), colon > argument.startIndex else { return nil }
        name = String(argument[..<colon])
        value = String(argument[argument.index(after: colon)...].drop { $0 == " " })
    }
}

/// A checksum, such as `sha-256:HEX`.
struct ChecksumArgument: ExpressibleByArgument, Sendable {
    let checksum: NewChecksum

    init?(argument: String) {
        guard let checksum = NewChecksum(argument) else { return nil }
        self.checksum = checksum
    }
}

enum PriorityArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case low, normal, high }
enum ConflictArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case rename, error, replace }
enum HelpArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case space, credentials, url }

enum JobStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case queued, running, waiting, paused, succeeded, failed, cancelled
}
enum DeliveryStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case pending, acknowledged, exhausted, cancelled
}

extension NewDestination {
    /// - Parameter path: `videos/film.mkv`, or `videos/` for only a folder.
    /// - Returns: nil if neither a path nor a conflict rule is given.
    init?(path: String?, onConflict: ConflictArgument?) {
        self.onConflict = onConflict?.rawValue
        if let path {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            let folder = parts.dropLast().joined(separator: "/")
            directory = folder.isEmpty ? nil : folder
            filename = parts.last.flatMap { $0.isEmpty ? nil : String($0) }
        }
        if directory == nil, filename == nil, self.onConflict == nil { return nil }
    }
}
