extension JSON {
    /// The positions of the names of an object's members, in bytes from the beginning of the text. Empty if the text is
    /// another value.
    ///
    /// - Throws: `JSONFault`.
    public static func memberPositions(in bytes: [UInt8]) throws(JSONFault) -> [String: Int] {
        var parser = JSONParser(bytes)
        var positions: [String: Int] = [:]
        guard parser.take(UInt8(ascii: "{")), !parser.take(UInt8(ascii: "}")) else { return [:] }
        repeat {
            parser.skipSpace()
            let position = parser.position
            positions[try parser.name()] = position
            _ = try parser.value()
        } while parser.take(UInt8(ascii: ","))
        return positions
    }
}
