/// How an object is divided into the parts of its upload. All parts but the last have the same size, which some servers demand.
struct ObjectParts: Sendable, Equatable {
    /// Of the object, in bytes.
    let size: Int64
    /// Of each part but the last, in bytes.
    let partSize: Int64

    private static let mebibyte: Int64 = 1 << 20
    /// S3 demands 5 MiB.
    static let smallestPart = 8 * mebibyte
    /// Servers accept 10,000 parts.
    private static let usualCount: Int64 = 9_000

    init(size: Int64, partSize: Int64) {
        self.size = size
        self.partSize = partSize
    }

    init(size: Int64) {
        let wanted = (size + Self.usualCount - 1) / Self.usualCount
        let rounded = (wanted + Self.mebibyte - 1) / Self.mebibyte * Self.mebibyte
        self.init(size: size, partSize: max(Self.smallestPart, rounded))
    }

    /// Whether the object is put with one request.
    var isOne: Bool { size <= partSize }

    var count: Int { Int((size + partSize - 1) / partSize) }

    /// - Parameter number: 1 to `count`.
    subscript(number: Int) -> Range<Int64> {
        let start = Int64(number - 1) * partSize
        return start..<min(start + partSize, size)
    }
}
