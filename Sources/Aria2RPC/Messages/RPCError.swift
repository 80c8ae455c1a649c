/// Why a call was not carried out. aria2 gives almost every error the code 1 and a sentence.
public struct RPCError: Error, Sendable, Equatable {
    public var code: Int
    public var message: String

    public init(_ message: String) { self.init(code: 1, message) }

    private init(code: Int, _ message: String) { (self.code, self.message) = (code, message) }

    static let parseError = RPCError(code: -32700, "Parse error.")
    static let invalidRequest = RPCError(code: -32600, "Invalid Request.")
    static let invalidParams = RPCError(code: -32602, "Invalid params.")

    /// Clients recognize a wrong secret by this text.
    public static let unauthorized = RPCError("Unauthorized")

    /// The HTTP status of a response with only this error, as aria2 1.36 sends it.
    var status: Int {
        switch code {
        case -32700, -32602: 500
        default: 400
        }
    }
}
