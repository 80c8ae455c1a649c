import Formats

/// A part's identifier: `part_` and a ULID; also the name of its file. If several services share the database, the number and
/// the epoch of the node follow that made the part: `part_01HZX3K9V7Q2N4R8T6W0YB5CDH-3.2`. No identifier is used again.
public struct PartID: Sendable, Hashable, Codable, CustomStringConvertible {
    public let text: String
    public init(_ text: String) { self.text = text }

    /// - Parameter owner: the node that makes the part; nil in a database of one service.
    public static func make(_ ulid: ULID, by owner: Node? = nil) -> PartID {
        PartID("part_\(ulid)" + (owner.map { "-\($0.number).\($0.epoch)" } ?? ""))
    }

    /// The node that made the part; nil if it was made in a database of one service.
    public var owner: Node? {
        guard let mark = text.utf8.lastIndex(of: UInt8(ascii: "-")) else { return nil }
        let numbers = text[mark...].dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 2, let number = Int64(numbers[0]), let epoch = Int64(numbers[1]), number > 0, epoch > 0
        else { return nil }
        return Node(number: number, epoch: epoch)
    }

    public var description: String { text }
}
