import Formats

/// The response to a message.
public struct RPCReply: Sendable {
    /// The HTTP status. WebSocket has none.
    public let status: Int
    public let text: [UInt8]

    static let contentType = "application/json-rpc"

    /// - Parameter error: why there is no result; nil: there is one, or the message is a batch, which is always 200.
    init(_ text: [UInt8], _ error: RPCError? = nil) { (self.text, status) = (text, error?.status ?? 200) }

    /// The answer to a message without a call that could be carried out.
    init(_ error: RPCError) { self.init(error.document(id: .null).bytes, error) }
}

extension RPCError {
    /// The answer to one call.
    func document(id: JSON) -> JSON { ["id": id, "jsonrpc": "2.0", "error": document] }

    var document: JSON { ["code": .count(code), "message": .string(message)] }
}
