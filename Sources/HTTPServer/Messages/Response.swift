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

/// The content of a response.
///
/// To HEAD, and with 304, the same body is given as for a 200 to GET: the server sends its length and keeps the bytes to
/// itself. (With ``none`` the length is said to be 0; only 204 says nothing of it.)
public enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// A stretch of a file, sent by the kernel without passing through this process.
    case file(FileRegion)
    /// Bytes that come into being while they are sent.
    case stream(ResponseStream)
}
