/// Reads JSON text, strictly by RFC 8259.
///
/// The parser is written by hand. Foundation's decoder accepts trailing commas (`[1,]`), silently keeps one of two
/// members with the same name, and loses the order of members. fetchd reads a client's text in exactly one way, or
/// refuses it.
extension JSON {
    /// - Throws: `JSONFault` with the reason, and the byte at which the fault is.
    public init(parsing bytes: [UInt8]) throws(JSONFault) {
        var parser = JSONParser(bytes)
        self = try parser.document()
    }

    public init(parsing text: String) throws(JSONFault) {
        try self.init(parsing: Array(text.utf8))
    }
}
