/// Why a call was not carried out. aria2 gives almost every error the code 1 and a sentence.
public struct RPCError: Error, Sendable, Equatable {
    public var code: Int
    public var message: String

    public init(_ message: String) { self.init(code: 1, message) }

    private init(code: Int, _ message: String, status: Int? = nil) {
        (self.code, self.message, ownStatus) = (code, message, status)
    }

    /// nil: the one that aria2 sends for the code.
    private var ownStatus: Int?

    static let parseError = RPCError(code: -32700, "Parse error.")
    static let invalidRequest = RPCError(code: -32600, "Invalid Request.")
    /// The message has more calls than one may have.
    static let tooManyCalls = RPCError("A message has at most \(RPCMessage.mostCalls) calls.")
    static let answerTooLarge = RPCError(
        "The answer would be larger than \(AnswerRoom.largestAnswer >> 20) MiB. Ask for fewer downloads, or name the keys."
    )
    /// Other answers, which their clients have not read, take the memory.
    static let outOfMemory = RPCError(
        code: 1, "Answers that were not read yet take too much memory. Try again in a second.", status: 503)
    static let invalidParams = RPCError(code: -32602, "Invalid params.")

    /// Clients recognize a wrong secret by this text.
    public static let unauthorized = RPCError("Unauthorized")

    /// The HTTP status of a response with only this error, as aria2 1.36 sends it.
    var status: Int {
        if let ownStatus { return ownStatus }
        return switch code {
        case -32700, -32602: 500
        default: 400
        }
    }
}
