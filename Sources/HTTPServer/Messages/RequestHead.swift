import HTTPTypes

/// The request line and header fields.
public struct RequestHead: Sendable, Hashable {
    public var method: HTTPRequest.Method
    /// The request target exactly as it was sent: percent-encoded, with its query.
    public var target: String
    /// The header fields in the order they were sent.
    public var headers: HTTPFields
    /// The client's IP address without port; an IPv4 client of an IPv6 socket appears as IPv4.
    public var remoteAddress: String
    /// False for HTTP/1.0, which knows neither chunked answers nor a mandatory `Host`.
    public var isHTTP11: Bool

    public init(
        method: HTTPRequest.Method, target: String, headers: HTTPFields = [:], remoteAddress: String = "127.0.0.1",
        isHTTP11: Bool = true
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.remoteAddress = remoteAddress
        self.isHTTP11 = isHTTP11
    }

    /// The `Host` field; never nil in a request of HTTP/1.1 that reaches a handler.
    public var host: String? { headers[Self.hostName] }

    /// HTTPTypes reserves its own constant for the authority of HTTP/2.
    static let hostName = HTTPField.Name("Host")!

    /// The target up to its first `?`, still percent-encoded.
    public var path: String {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return target }
        return String(target[..<mark])
    }

    /// What follows the first `?` of the target, still percent-encoded; nil without a `?`.
    public var query: String? {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return String(target[target.utf8.index(after: mark)...])
    }
}
