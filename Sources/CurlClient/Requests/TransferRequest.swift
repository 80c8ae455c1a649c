/// One request, as the caller means it. It is judged before anything is sent: see `TransferRequest+Validation.swift`.
public struct TransferRequest: Sendable {
    /// Absolute, `http` or `https`.
    public var url: String

    public var method: String

    /// Sent as they are, in order. `Accept-Encoding: identity` is added unless given, as a decoded body can be neither
    /// resumed nor compared with its digest. The framing of the body (`Content-Length`, `Transfer-Encoding`) is ours.
    public var headers: [(name: String, value: String)]

    public var body: [UInt8]?

    /// The first byte asked for (`Range: bytes=N-`); nil asks for everything. The answer is not checked: judge the head.
    public var rangeStart: Int64?

    /// The last byte asked for, counted from 0 and included; only with `rangeStart`.
    public var rangeEnd: Int64?

    public var userAgent: String?

    /// In place of an `Authorization` among the headers: never are both sent. nil leaves that header as it is.
    public var credentials: Credentials?

    /// nil connects to the host itself. The environment (`http_proxy`, `ALL_PROXY`, `NO_PROXY` and the like) has no say.
    /// A `Proxy-Authorization` among the headers gives way to the proxy's own credentials, if it has some.
    ///
    /// An HTTP proxy that wants (other) credentials answers with status 407. That head reaches the handler, also when it
    /// is the answer to `CONNECT`, whose body does not follow. A SOCKS proxy: `proxyAuthenticationRequired`.
    public var proxy: Proxy?

    public var tls: TLSOptions

    /// `Options.admitsAddress` is not asked: the URL is the caller's own, and nobody else's. false.
    public var admitsAnyAddress = false

    public var timeouts: Timeouts

    /// All of them hold; the slowest decides.
    public var rateLimits: [RateLimit]

    /// nil demands nothing but a byte now and then: see `Timeouts.idle`.
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
    /// How long a transfer may take to do what.
    public struct Timeouts: Sendable, Equatable {
        /// From the start until the request can be sent: name, TCP and TLS.
        public var connect: Duration

        /// Without a byte in either direction, once connected; waiting for the head counts, being paused by the
        /// handler or by a rate limit does not. nil waits for ever.
        public var idle: Duration?

        /// From the start to the end, whatever happens in between. nil is unbounded.
        public var total: Duration?

        public init(connect: Duration = .seconds(30), idle: Duration? = .seconds(60), total: Duration? = nil) {
            self.connect = connect
            self.idle = idle
            self.total = total
        }
    }
}

extension TransferRequest {
    /// What a server has to keep up, lest the transfer fail with `tooSlow`.
    ///
    /// Judged over every stretch of `over` from the accepted head on, ten times in that time. The time in which the
    /// transfer was paused here, by a rate limit or by a handler that holds its chunks, does not count.
    public struct MinimumSpeed: Sendable, Equatable {
        /// Bytes of body per second, on average over the stretch; below 1 nothing is demanded.
        public var bytesPerSecond: Int64

        /// At least 100 ms: what is shorter counts as that.
        public var over: Duration

        public init(bytesPerSecond: Int64, over: Duration = .seconds(60)) {
            self.bytesPerSecond = bytesPerSecond
            self.over = over
        }
    }
}
