import Formats
import RawStructuredFieldValues

/// A structured field that is a dictionary (RFC 9651, section 3.2). Only its byte sequences are kept. The other members
/// must be well-formed too, because one error invalidates the whole field.
struct StructuredDictionary {
    private(set) var byteSequences: [String: [UInt8]] = [:]

    /// In bytes. The parser compares each name with all names before it, so its time grows with the square of the
    /// length. A field with a digest of every registered algorithm has 500 bytes.
    static let longest = 8192

    /// nil if the field is malformed, or longer than ``longest``.
    ///
    /// - Parameter lines: the lines of the field, in order. Together they are one dictionary.
    init?(_ lines: [String]) {
        let text = Array(lines.filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: ",").utf8)
        guard text.count <= Self.longest else { return nil }
        var parser = StructuredFieldValueParser(text)
        guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
        for (name, member) in members {
            guard case .item(let item) = member, case .undecodedByteSequence(let encoded) = item.rfc9651BareItem else {
                continue
            }
            // The parser checks only the alphabet. Padding may be missing, and its bits have no meaning (section
            // 4.2.7).
            guard let bytes = [UInt8](base64: encoded) else { return nil }
            byteSequences[name] = bytes
        }
    }
}
