/// A number of bytes in the form of aria2's options: `200K`, `1M` or `1048576`.
enum SizeText {
    /// - Returns: nil for any other text.
    static func bytes(_ text: String) -> Int64? {
        guard let last = text.utf8.last else { return nil }
        let (digits, unit): (Substring, Int64) =
            switch last {
            case UInt8(ascii: "K"), UInt8(ascii: "k"): (text.dropLast(), 1 << 10)
            case UInt8(ascii: "M"), UInt8(ascii: "m"): (text.dropLast(), 1 << 20)
            default: (text[...], 1)
            }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits) else {
            return nil
        }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit)
        return overflows ? nil : bytes
    }
}
