// What a client gets: a status, header fields and one of four kinds of body.

import HTTPTypes

/// The answer to one request.
public struct Response: Sendable {
    /// From 200 up; interim answers (1xx) are the server's own business.
    public var status: HTTPResponse.Status
    /// `Date`, `Content-Length`, `Transfer-Encoding` and `Connection` are the server's; of these only
    /// `Connection: close` is taken from here, the rest is ignored. So is a field with an empty value.
    public var headers: HTTPFields
    public var body: Body

    public init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: Body = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
