import HTTPTypes

/// The reason why the server itself refuses a request, without calling the `respond` of its ``Admission``. Each check has
/// one case, with a status and a readable sentence.
public enum RequestFault: Error, Sendable, Hashable {
    /// The method is not a token.
    case methodInvalid
    /// The target is not a path, an absolute URL or (for OPTIONS) `*`, or contains a control character, a space or a NUL.
    case targetInvalid
    /// A line of the head does not end with CRLF, continues on the next line, or contains a NUL: two readers could see
    /// different lines.
    case lineInvalid
    /// A field name is not a token, for example because of a space before the colon.
    case fieldInvalid
    /// An HTTP/1.1 request without `Host`.
    case hostMissing
    /// More than one `Host`: two readers could use different ones.
    case hostRepeated
    /// `Content-Length` is repeated or not a number: two readers could see different ends of the body.
    case contentLengthInvalid
    /// Both `Transfer-Encoding` and `Content-Length`, as in most cases of request smuggling.
    case framingAmbiguous
    /// A `Transfer-Encoding` other than exactly `chunked`, or one in HTTP/1.0.
    case transferEncodingUnsupported
    /// The head is larger than ``HTTPServer/Options/maxHeadBytes``.
    case headTooLarge(limit: Int)
    /// The head has more fields than ``HTTPServer/Options/maxFields``.
    case tooManyFields(limit: Int)
    /// The body, or its announced length, is larger than the limit of its admission.
    case bodyTooLarge(limit: Int)
    /// The bodies of all connections together are larger than ``HTTPServer/Options/maxBytesOfBodies``.
    case bodiesTooLarge
    /// There are ``HTTPServer/Options/webSocketLimit`` WebSockets.
    case tooManyWebSockets
    /// An eventual response was not ready within ``HTTPServer/Options/waitLimit``.
    case answerOverdue
    /// The server stops before the response is ready.
    case stopping

    /// The status of the response.
    public var status: HTTPResponse.Status {
        switch self {
        case .methodInvalid, .targetInvalid, .lineInvalid, .fieldInvalid, .hostMissing, .hostRepeated,
            .contentLengthInvalid, .framingAmbiguous:
            .badRequest
        case .transferEncodingUnsupported: .notImplemented
        case .headTooLarge, .tooManyFields: .requestHeaderFieldsTooLarge
        case .bodyTooLarge: .contentTooLarge
        case .bodiesTooLarge, .tooManyWebSockets, .answerOverdue, .stopping: .serviceUnavailable
        }
    }
}

extension RequestFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .methodInvalid: "The request method is not a valid token."
        case .targetInvalid:
            "The request target must be a path or an absolute URL, without control characters or spaces."
        case .lineInvalid: "Every line of the request head must end with CRLF, without a NUL and without folding."
        case .fieldInvalid: "A header field has an invalid name."
        case .hostMissing: "An HTTP/1.1 request must have a Host header."
        case .hostRepeated: "The request has more than one Host header."
        case .contentLengthInvalid: "The Content-Length header is repeated or is not a number."
        case .framingAmbiguous: "The request has both Transfer-Encoding and Content-Length."
        case .transferEncodingUnsupported: "The only transfer encoding understood is chunked, in HTTP/1.1."
        case .headTooLarge(let limit): "The request head is larger than \(limit) bytes."
        case .tooManyFields(let limit): "The request has more than \(limit) header fields."
        case .bodyTooLarge(let limit): "The request body is larger than \(limit) bytes."
        case .bodiesTooLarge: "The server receives too many large request bodies at the same time. Try again later."
        case .tooManyWebSockets: "There are too many open WebSockets. Try again later."
        case .answerOverdue: "The answer was not ready in time."
        case .stopping: "The server is stopping."
        }
    }
}
