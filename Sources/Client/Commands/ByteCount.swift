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
