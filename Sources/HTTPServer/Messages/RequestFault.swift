// Why the server itself, and not its owner, turned a request down: one case for each check, each with its status and
// a sentence that a person can act on.

import HTTPTypes

/// A reason for which the server answers a request without asking ``RequestHandler/respond(to:)``.
public enum RequestFault: Error, Sendable, Hashable {
    /// The request line holds a method that is no token.
    case methodInvalid
    /// The target is empty or holds a control character, a space or a NUL.
    case targetInvalid
    /// A field has a name that is no token, for example one with a space before the colon.
    case fieldInvalid
    /// HTTP/1.1 without `Host`.
    case hostMissing
    /// More than one `Host`: two readers could pick different ones.
    case hostRepeated
    /// `Content-Length` that is repeated or no number: two readers could see different ends of the body.
    case contentLengthInvalid
    /// Both `Transfer-Encoding` and `Content-Length`: the classic of request smuggling.
    case framingAmbiguous
    /// A `Transfer-Encoding` other than exactly `chunked`, or one in HTTP/1.0.
    case transferEncodingUnsupported
    /// The head is larger than ``HTTPServer/Options/maxHeadBytes``.
    case headTooLarge(limit: Int)
    /// The body is, or is announced to be, larger than the bound that its admission set.
    case bodyTooLarge(limit: Int)
    /// An eventual answer was not ready within ``HTTPServer/Options/waitLimit``.
    case answerOverdue
    /// The server stops and could not wait for the answer any longer.
    case stopping

    /// The status that fits.
    public var status: HTTPResponse.Status {
        switch self {
        case .methodInvalid, .targetInvalid, .fieldInvalid, .hostMissing, .hostRepeated, .contentLengthInvalid,
            .framingAmbiguous:
            .badRequest
        case .transferEncodingUnsupported: .notImplemented
        case .headTooLarge: .requestHeaderFieldsTooLarge
        case .bodyTooLarge: .contentTooLarge
        case .answerOverdue, .stopping: .serviceUnavailable
        }
    }
}

extension RequestFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .methodInvalid: "The request method is not a valid token."
        case .targetInvalid: "The request target is empty or contains a control character or a space."
        case .fieldInvalid: "A header field has an invalid name."
        case .hostMissing: "An HTTP/1.1 request must have a Host header."
        case .hostRepeated: "The request has more than one Host header."
        case .contentLengthInvalid: "The Content-Length header is repeated or is not a number."
        case .framingAmbiguous: "The request has both Transfer-Encoding and Content-Length."
        case .transferEncodingUnsupported: "The only transfer encoding understood is chunked, in HTTP/1.1."
        case .headTooLarge(let limit): "The request head is larger than \(limit) bytes."
        case .bodyTooLarge(let limit): "The request body is larger than \(limit) bytes."
        case .answerOverdue: "The answer was not ready in time."
        case .stopping: "The server is stopping."
        }
    }
}
