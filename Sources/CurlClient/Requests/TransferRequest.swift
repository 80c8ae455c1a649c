/// A request. It is validated before it is sent: see `TransferRequest+Validation.swift`.
public struct TransferRequest: Sendable {
    /// An absolute `http` or `https` URL. Its host is in ASCII (RFC 5891).
    public var url: String

    public var method: String

    /// Sent unchanged and in this order. `Accept-Encoding: identity` is added unless given, because a decoded body can
    /// neither be resumed nor compared with its digest. The client sets the framing fields (`Content-Length`,
    /// `Transfer-Encoding`).
    public var headers: [(name: String, value: String)]

    public var body: [UInt8]?

    /// The first requested byte (`Range: bytes=N-`); nil requests the complete file. The client does not check the
    /// response; the handler must check the head.
    public var rangeStart: Int64?

    /// The last requested byte, counted from 0 and inclusive. Requires `rangeStart`.
    public var rangeEnd: Int64?

    public var userAgent: String?

    /// Replaces an `Authorization` header of the caller; both are never sent. nil leaves that header unchanged.
    public var credentials: Credentials?

    /// nil connects directly. The environment (`http_proxy`, `ALL_PROXY`, `NO_PROXY` and similar) is ignored. The
    /// credentials of the proxy replace a `Proxy-Authorization` header of the caller.
    ///
    /// An HTTP proxy that requires (other) credentials responds with status 407. The handler receives this head, also
    /// as the response to `CONNECT`, then without a body. A SOCKS proxy: `proxyAuthenticationRequired`.
    public var proxy: Proxy?

    public var tls: TLSOptions

    /// The path of a Unix domain socket to connect to. The URL's host is then only the value of `Host`; it must be an
    /// address, so that no name is looked up. nil.
    public var unixSocket: String?

    /// If true, no rule for hosts and addresses applies, because the URL does not come from a client. false.
    public var admitsAnyAddress = false

    /// Replaces `Options.admitsAddress` for this request. nil.
    public var addressPolicy: AddressPolicy?

    /// Replaces `Options.windowBytes` for this request. nil.
    public var windowBytes: Int?

    public var timeouts: Timeouts

    /// All limits apply; the lowest decides.
    public var rateLimits: [RateLimit]

    /// nil sets no minimum: see also `Timeouts.idle`.
    public var minimumSpeed: MinimumSpeed?

    public init(
        url: String, method: String = "GET", headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        rangeStart: Int64? = nil, rangeEnd: Int64? = nil, userAgent: String? = nil, timeouts: Timeouts = .init(),
        credentials: Credentials? = nil, proxy: Proxy? = nil, tls: TLSOptions = .init(), rateLimits: [RateLimit] = [],
        minimumSpeed: MinimumSpeed? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.rangeStart = rangeStart
        self.rangeEnd = rangeEnd
        self.userAgent = userAgent
        self.timeouts = timeouts
        self.credentials = credentials
        self.proxy = proxy
        self.tls = tls
        self.rateLimits = rateLimits
        self.minimumSpeed = minimumSpeed
    }
}

extension TransferRequest {
    /// The timeouts of a transfer.
    public struct Timeouts: Sendable, Equatable {
        /// From the start until the request can be sent: lookup, TCP and TLS.
        public var connect: Duration

        /// The time without a byte in either direction, after the connection is established. Waiting for the head
        /// counts. A pause by the handler or a rate limit does not count. nil is unlimited.
        public var idle: Duration?

        /// From the start to the end of the transfer. nil is unlimited.
        public var total: Duration?

        public init(connect: Duration = .seconds(30), idle: Duration? = .seconds(60), total: Duration? = nil) {
            self.connect = connect
            self.idle = idle
            self.total = total
        }
    }
}

extension TransferRequest {
    /// The minimum speed of a server. A slower transfer fails with `tooSlow`.
    ///
    /// It is checked ten times within `over`, from the accepted head on. Pauses on our side, by a rate limit or a full
    /// window, do not count.
    public struct MinimumSpeed: Sendable, Equatable {
        /// Bytes of body per second, averaged over `over`. Values below 1 set no minimum.
        public var bytesPerSecond: Int64

        /// The length of the window. Shorter values count as 100 ms.
        public var over: Duration

        public init(bytesPerSecond: Int64, over: Duration = .seconds(60)) {
            self.bytesPerSecond = bytesPerSecond
            self.over = over
        }
    }
}
