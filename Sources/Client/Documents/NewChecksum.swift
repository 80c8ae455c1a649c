struct NewChecksum: Encodable, Sendable, Equatable {
    var algorithm: String
    var value: String

    private static let digits = ["md5": 32, "sha-1": 40, "sha-256": 64, "sha-512": 128]

    /// - Parameter text: `sha-256:HEX`, `sha256:HEX`, or only the digits; their number then determines the algorithm.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        value = parts.last?.lowercased() ?? ""
        let count = value.count
        let named = parts.count == 2 ? Self.algorithm(parts[0].lowercased()) : nil
        let found = parts.count == 2 ? named : Self.digits.first { $0.value == count }?.key
        guard let found, Self.digits[found] == count, value.allSatisfy({ $0.isHexDigit && $0.isASCII }) else {
            return nil
        }
        algorithm = found
    }

    private static func algorithm(_ name: String) -> String? {
        let name = name.hasPrefix("sha") && !name.hasPrefix("sha-") ? "sha-" + name.dropFirst(3) : name
        return digits[name] == nil ? nil : name
    }
}
