import Testing

/// The bytes of a connection, and what the server must send before it closes the connection.
struct RawCase: Sendable, CustomTestStringConvertible {
    enum End: Sendable {
        /// The server expects another request. The test sends one, and its response must be the next one.
        case stays
        /// The server closes the connection. The test sends another request, which must get no response.
        case closes
        /// The client sends nothing more, and the server closes the connection.
        case ends
        /// The library judges the bytes, not the server: at most one response, which is an error, and the end.
        case refusedByLibrary
    }

    let name: String
    let request: String
    /// The statuses of the responses.
    let answers: [Int]
    let end: End
    /// The text of the first response; nil for any.
    let text: String?

    init(_ name: String, _ request: String, _ answers: [Int], _ end: End, text: String? = nil) {
        (self.name, self.request, self.answers, self.end, self.text) = (name, request, answers, end, text)
    }

    /// A request with a valid head, and the fields and body given.
    static func post(_ name: String, _ fields: [String], _ body: String, _ answers: [Int], _ end: End) -> RawCase {
        let head = (["POST /p HTTP/1.1", "Host: a"] + fields).joined(separator: "\r\n")
        return RawCase(name, head + "\r\n\r\n" + body, answers, end)
    }

    static func get(_ name: String, _ fields: [String], _ answers: [Int], _ end: End) -> RawCase {
        RawCase(name, (["GET /g HTTP/1.1"] + fields).joined(separator: "\r\n") + "\r\n\r\n", answers, end)
    }

    var testDescription: String { name }
}
