import Formats
import RawStructuredFieldValues

/// A structured field that is a dictionary (RFC 9651, section 3.2). Of its members those that are byte sequences are kept;
/// the others have to be well-formed, as one mistake makes the whole field void.
struct StructuredDictionary {
    private(set) var byteSequences: [String: [UInt8]] = [:]

    /// Bytes. The parser compares each name with all before it, so that the time it takes grows with the square of the
    /// length. A field with a digest of every registered algorithm has 500 bytes.
    static let longest = 8192

    /// nil where it is malformed, or longer than ``longest``.
    ///
    /// - Parameter lines: the field's lines, in order; together they are one dictionary.
    init?(_ lines: [String]) {
        let text = Array(lines.filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: ",").utf8)
        guard text.count <= Self.longest else { return nil }
        var parser = StructuredFieldValueParser(text)
        guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
        for (name, member) in members {
            guard case .item(let item) = member, case .undecodedByteSequence(let encoded) = item.rfc9651BareItem else {
                continue
            }
            // The parser looks at the alphabet alone. Missing padding and its bits are no matter (section 4.2.7).
            guard let bytes = [UInt8](base64: encoded) else { return nil }
            byteSequences[name] = bytes
        }
    }
}
