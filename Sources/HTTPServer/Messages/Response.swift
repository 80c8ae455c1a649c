import HTTPTypes

/// The response to one request.
public struct Response: Sendable {
    /// 200 or above. The server sends interim responses (1xx) itself.
    public var status: HTTPResponse.Status
    /// The server sets `Date`, `Content-Length`, `Transfer-Encoding` and `Connection`. Of these fields, only
    /// `Connection: close` is used from here. Fields with an empty value are ignored.
    public var headers: HTTPFields
    public var body: Body
    /// The memory that the body takes until the client has read it; nil if it is not counted.
    public var memory: AnswerShare?

    public init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: Body = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
