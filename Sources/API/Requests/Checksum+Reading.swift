import HTTPSemantics

extension Checksum {
    init(reading reader: inout FieldReader) throws(Problem) {
        let (algorithm, text) = (try reader.choice("algorithm", of: Algorithm.self), try reader.string("value"))
        guard let algorithm else { throw reader.missing("algorithm", "what the value was computed with") }
        guard let text else { throw reader.missing("value", "what the file hashes to") }
        guard let checksum = Checksum(algorithm, hexadecimal: text) else {
            throw reader.invalid(
                "value", "must be the \(2 * algorithm.size) hexadecimal digits of a \(algorithm.rawValue)")
        }
        self = checksum
    }
}
