import HTTPSemantics

extension Checksum {
    init(reading reader: inout FieldReader) throws(Problem) {
        guard let algorithm = try reader.choice("algorithm", of: Algorithm.self) else {
            throw reader.missing("algorithm", "what the value was computed with")
        }
        guard let text = try reader.string("value") else { throw reader.missing("value", "what the file hashes to") }
        guard let checksum = Checksum(algorithm, hexadecimal: text) else {
            throw reader.invalid(
                "value", "must be the \(2 * algorithm.size) hexadecimal digits of a \(algorithm.rawValue)")
        }
        self = checksum
    }
}
