import Formats

/// The response to a message.
public struct RPCReply: Sendable {
    /// The HTTP status. WebSocket has none.
    public let status: Int
    public let text: [UInt8]

    static let contentType = "application/json-rpc"

    init(_ outcome: Result<JSON, RPCError>, id: JSON) {
        switch outcome {
        case .success: status = 200
        case .failure(let error): status = error.status
        }
        text = JSON.object(Self.document(outcome, id: id)).bytes
    }

    /// A batch is always 200.
    init(batch: [JSONObject]) {
        status = 200
        text = JSON.array(batch.map(JSON.object)).bytes
    }

    static func document(_ outcome: Result<JSON, RPCError>, id: JSON) -> JSONObject {
        switch outcome {
        case .success(let result): ["id": id, "jsonrpc": "2.0", "result": result]
        case .failure(let error): ["id": id, "jsonrpc": "2.0", "error": error.document]
        }
    }
}

extension RPCError {
    var document: JSON { ["code": .count(code), "message": .string(message)] }
}
