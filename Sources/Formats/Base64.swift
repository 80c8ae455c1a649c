import Foundation

extension [UInt8] {
    /// Reads base64 as in HTTP headers (RFC 4648, section 4: the alphabet with `+` and `/`). Padding may be missing,
    /// but must not be wrong. nil for any other text.
    ///
    /// Foundation alone would treat padding as data.
    public init?(base64 text: some StringProtocol) {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.dropFirst(digits.count)
        guard padding.allSatisfy({ $0 == UInt8(ascii: "=") }), padding.count <= 2,
            padding.isEmpty || text.utf8.count % 4 == 0
        else { return nil }
        let missing = String(repeating: "=", count: (4 - digits.count % 4) % 4)
        guard let data = Data(base64Encoded: String(decoding: digits, as: UTF8.self) + missing) else { return nil }
        self.init(data)
    }
}
