import HTTPTypes

/// The request line and header fields.
public struct RequestHead: Sendable, Hashable {
    public var method: HTTPRequest.Method
    /// The request target as it was sent: percent-encoded, with its query. Of a target in absolute form, only the path
    /// and the query; its host is the value of `Host`. `*` for a request about the server itself (OPTIONS).
    public var target: String
    /// The header fields in the order in which they were sent.
    public var headers: RequestFields
    /// The IP address of the client without the port. An IPv4 client of an IPv6 socket appears as IPv4. The address of a
    /// client of a Unix domain socket is `unixAddress`.
    public var remoteAddress: String
    /// The address of the client for whom a trusted proxy has sent the request, if the handler knows it.
    public var forwardedAddress: String?
    /// False for HTTP/1.0, which has neither chunked responses nor a mandatory `Host`.
    public var isHTTP11: Bool

    public init(
        method: HTTPRequest.Method, target: String, headers: RequestFields = [:], remoteAddress: String = "127.0.0.1",
        isHTTP11: Bool = true
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.remoteAddress = remoteAddress
        self.isHTTP11 = isHTTP11
    }

    /// The `remoteAddress` of every client of a Unix domain socket.
    public static let unixAddress = "unix"

    /// The address of the client as far as it is known: without a trusted proxy, that of the connection.
    public var clientAddress: String { forwardedAddress ?? remoteAddress }

    /// Whether the client runs on the same machine, or an unknown client behind a proxy that does.
    public var isFromThisMachine: Bool {
        Self.isLocal(remoteAddress) && forwardedAddress.map(Self.isLocal) ?? true
    }

    private static func isLocal(_ address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address == unixAddress
    }

    /// The `Host` field. It is never nil in an HTTP/1.1 request that reaches a handler.
    public var host: String? { headers[Self.hostName] }

    /// HTTPTypes uses its own constant for the authority of HTTP/2.
    static let hostName = HTTPField.Name("Host")!

    /// The target up to its first `?`, still percent-encoded.
    public var path: String {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return target }
        return String(target[..<mark])
    }

    /// The part of the target after its first `?`, still percent-encoded; nil without a `?`.
    public var query: String? {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return String(target[target.utf8.index(after: mark)...])
    }
}
