import Formats

/// A part's identifier: `part_` and a ULID; also the name of its file.
public struct PartID: Sendable, Hashable, Codable, CustomStringConvertible {
    public let text: String
    public init(_ text: String) { self.text = text }
    public static func make(_ ulid: ULID) -> PartID { PartID("part_\(ulid)") }
    public var description: String { text }
}
