/// A size as aria2 writes it: a number of bytes, or with K (1024) or M (1024 K).
enum Aria2Size {
    /// nil for any other text, and for a size that a number of 64 bits cannot hold.
    static func bytes(_ text: String) -> Int64? {
        let unit: Int64 =
            switch text.last {
            case "K", "k": 1024
            case "M", "m": 1024 * 1024
            case _: 1
            }
        guard let number = Int64(unit == 1 ? text[...] : text.dropLast()), number >= 0 else { return nil }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: unit)
        return isTooLarge ? nil : bytes
    }
}
