import Formats

/// The result of a transfer.
public struct TransferResult: Sendable {
    public enum Outcome: Sendable, Equatable {
        /// The response is complete. If `metrics.bodyEndKnown` is false, the end may also be a lost connection.
        case completed
        /// The handler rejected the head.
        case rejected
        /// `Transfer.cancel()` was called, or the client was shut down.
        case cancelled
        case failed(TransferError)
    }

    public var outcome: Outcome
    /// The final head, if it arrived.
    public var head: ResponseHead?
    /// The number of body bytes in all delivered chunks, for every outcome.
    public var bytesReceived: Int64 = 0
    public var metrics = TransferMetrics()
}

/// The status and fields of a final response.
public struct ResponseHead: Sendable {
    public internal(set) var status: Int
    /// The version as the server sent it: `HTTP/1.1`.
    public internal(set) var httpVersion: String
    /// In the order of arrival, with the case of the names unchanged. Values that are not UTF-8 are decoded as ISO 8859-1.
    public internal(set) var headers: [(name: String, value: String)]
    /// The value of `Content-Length`; nil if it is absent or overridden by `Transfer-Encoding`. In the response to a
    /// HEAD request, it is the length of a body that does not follow.
    public internal(set) var contentLength: Int64?
    /// Whether this is the proxy's own response: its demand for credentials (407, or 401 to `CONNECT`).
    public internal(set) var isOfProxy = false
    /// The numeric address of the peer.
    public internal(set) var remoteAddress: String

    public init(
        status: Int, httpVersion: String = "HTTP/1.1", headers: [(name: String, value: String)] = [],
        contentLength: Int64? = nil, remoteAddress: String = ""
    ) {
        self.status = status
        self.httpVersion = httpVersion
        self.headers = headers
        self.contentLength = contentLength
        self.remoteAddress = remoteAddress
    }

    /// The first value of a field; the case of `name` does not matter.
    public func value(of name: String) -> String? { headers.value(of: name) }

    /// Every value of a field, in order.
    public func values(of name: String) -> [String] { headers.values(of: name) }

    /// Whether the end of the body can be distinguished from a lost connection.
    func marksBodyEnd(method: String) -> Bool {
        if method == "HEAD" || status == 204 || status == 304 { return true }
        let isChunked = values(of: "Transfer-Encoding").contains { $0.equalsIgnoringASCIICase("chunked") }
        return contentLength != nil || isChunked
    }

    /// The absolute URL of the redirect target; nil if the response is no redirect.
    func redirectTarget(from url: String) -> String? {
        guard (300..<400).contains(status), status != 304, let location = value(of: "Location") else { return nil }
        return try? ParsedURL(url).resolve(location)
    }
}

/// Measurements of a transfer. Durations are nil if the transfer did not reach the step.
public struct TransferMetrics: Sendable, Equatable {
    /// The numeric address of the peer; nil if no connection was established.
    public var remoteAddress: String?
    /// The duration of each step. Almost zero if a connection was reused.
    public var nameLookup: Duration?
    public var connect: Duration?
    /// The duration of the TLS handshake; nil without TLS.
    public var tls: Duration?
    /// Both from the start of the transfer.
    public var timeToFirstByte: Duration?
    public var total: Duration?
    /// The absolute target of a redirect, which the client does not follow.
    public var redirectURL: String?
    /// Whether the response marks the end of its body (with a length, with chunks, or by a status without a body), so
    /// that a lost connection is detected.
    public var bodyEndKnown = false

    public init() {}
}
