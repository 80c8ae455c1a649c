import Foundation

/// The digests of the pieces of a file (RFC 5854, section 4.1.3). They show which bytes of a file are wrong.
public struct PieceDigests: Sendable, Hashable, Codable {
    public let algorithm: Checksum.Algorithm
    /// The size of each piece but the last, in bytes; at least 1.
    public let length: Int64
    /// The digests, one after another.
    public let digests: Data

    public static let most = 4096

    /// nil if the digests are not whole ones, or more than ``most``, or none; or if the length is not positive.
    public init?(_ algorithm: Checksum.Algorithm, length: Int64, digests: Data) {
        guard length > 0, !digests.isEmpty, digests.count % algorithm.size == 0,
            digests.count / algorithm.size <= Self.most
        else { return nil }
        self.algorithm = algorithm
        self.length = length
        self.digests = digests
    }

    public var count: Int { digests.count / algorithm.size }

    /// Whether a file of this size, in bytes, has so many pieces.
    public func fit(_ size: Int64) -> Bool { size > 0 && (size - 1) / length == Int64(count - 1) }

    /// - Parameter size: of the file, in bytes, which ``fit(_:)``.
    public func range(of piece: Int, in size: Int64) -> Range<Int64> {
        let start = Int64(piece) * length
        return start..<min(size, start + length)
    }

    public func matches(_ digest: [UInt8], piece: Int) -> Bool {
        let start = digests.startIndex + piece * algorithm.size
        return digests[start..<start + algorithm.size].elementsEqual(digest)
    }
}
