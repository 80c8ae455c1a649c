import HTTPTypes

/// The reason why the server itself refuses a request, without calling the `respond` of its ``RouteDecision``.
public struct RequestFault: Error, Sendable, Hashable, CustomStringConvertible {
    public let status: HTTPResponse.Status
    /// A sentence for the client.
    public let description: String

    private init(_ status: HTTPResponse.Status, _ description: String) {
        self.status = status
        self.description = description
    }
}

extension RequestFault {
    public static let methodInvalid = malformed("The request method is not a valid token.")
    public static let targetInvalid = malformed(
        "The request target must be a path or an absolute URL, without control characters or spaces.")
    // Two readers could see different lines.
    public static let lineInvalid = malformed(
        "Every line of the request head must end with CRLF, without a NUL and without folding.")
    // For example because of a space before the colon.
    public static let fieldInvalid = malformed("A header field has an invalid name.")
    public static let hostMissing = malformed("An HTTP/1.1 request must have a Host header.")
    // Two readers could use different ones.
    public static let hostRepeated = malformed("The request has more than one Host header.")
    // Two readers could see different ends of the body. Most cases of request smuggling have both kinds of framing.
    public static let contentLengthInvalid = malformed("The Content-Length header is repeated or is not a number.")
    public static let framingAmbiguous = malformed("The request has both Transfer-Encoding and Content-Length.")
    public static let transferEncodingUnsupported = RequestFault(
        .notImplemented, "The only transfer encoding understood is chunked, in HTTP/1.1.")
    public static let bodiesTooLarge = RequestFault(
        .serviceUnavailable, "The server receives too many large request bodies at the same time. Try again later.")
    public static let tooManyWebSockets = RequestFault(
        .serviceUnavailable, "There are too many open WebSockets. Try again later.")
    public static let answerOverdue = RequestFault(.serviceUnavailable, "The answer was not ready in time.")
    public static let stopping = RequestFault(.serviceUnavailable, "The server is stopping.")

    public static func headTooLarge(limit: Int) -> RequestFault {
        RequestFault(.requestHeaderFieldsTooLarge, "The request head is larger than \(limit) bytes.")
    }

    public static func tooManyFields(limit: Int) -> RequestFault {
        RequestFault(.requestHeaderFieldsTooLarge, "The request has more than \(limit) header fields.")
    }

    /// - Parameter limit: that of the admission, for the body or its announced length.
    public static func bodyTooLarge(limit: Int) -> RequestFault {
        RequestFault(.contentTooLarge, "The request body is larger than \(limit) bytes.")
    }

    private static func malformed(_ description: String) -> RequestFault { RequestFault(.badRequest, description) }
}
