import Base
import Formats
import HTTPSemantics

/// A request. It is validated before it is sent: see `validate`.
public struct TransferRequest: Sendable {
    /// An absolute `http` or `https` URL. Its host is in ASCII (RFC 5891).
    public var url: String

    public var method: String
    /// Sent unchanged and in this order. `Accept-Encoding: identity` is added unless given, because a decoded body can neither
    /// be resumed nor compared with its digest. The client sets the framing fields (`Content-Length`, `Transfer-Encoding`).
    public var headers: [(name: String, value: String)]

    public var body: [UInt8]?
    /// The body in place of `body`: from the present position of the file, or of a pipe. The loop waits for its bytes, so it is for
    /// clients whose transfers may wait for each other. The descriptor must be that of this request alone, which moves its position.
    public var bodyFile: Descriptor?
    /// The number of bytes of `bodyFile`. nil: all to its end.
    public var bodyLength: Int64?
    /// Whether the request gets a connection of its own, for a request that must not be carried out twice: libcurl repeats one that
    /// was sent on a kept connection that the server closes without an answer. false.
    public var needsNewConnection = false
    /// Bytes of the body that are sent in a second, at most. nil.
    public var sendLimit: Int64?
    /// The first requested byte (`Range: bytes=N-`); nil requests the complete file. The client does not check the
    /// response; the handler must check the head.
    public var rangeStart: Int64?
    /// The last requested byte, counted from 0 and inclusive. Requires `rangeStart`.
    public var rangeEnd: Int64?

    public var userAgent: String?
    /// Replaces an `Authorization` header of the caller; both are never sent. nil leaves that header unchanged.
    ///
    /// Credentials are sent only to the host of the URL: redirects are not followed here, and other requests on the same
    /// connection do not contain them. Basic and a bearer token are sent with the first request. With Digest (RFC 7616: MD5 and
    /// SHA-256; `qop=auth` or none), the first request has no credentials and no body, and libcurl answers the challenge. The
    /// handler receives only the last response: maybe a 401 that refuses these credentials, but not the first challenge.
    public var credentials: Credentials?
    /// nil connects directly. The environment (`http_proxy`, `ALL_PROXY`, `NO_PROXY` and similar) is ignored. The
    /// credentials of the proxy replace a `Proxy-Authorization` header of the caller. They are sent with the first request.
    ///
    /// Requests for `http` URLs are sent to an HTTP proxy, those for `https` URLs through a tunnel (`CONNECT`).
    /// `Options.admitsAddress` checks the address of the proxy, because sockets are opened only to it, and an address in the URL.
    /// The proxy resolves names, and decides which of their addresses it connects to. Addresses in heads and metrics are those
    /// of the proxy.
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

    public struct Timeouts: Sendable, Equatable {
        /// The time from the start until the request can be sent: lookup, TCP and TLS.
        public var connect: Duration
        /// The time without a byte in either direction, after the connection is established. Waiting for the head
        /// counts. A pause by the handler or a rate limit does not count. nil is unlimited.
        public var idle: Duration?
        /// The time from the start to the end of the transfer. nil is unlimited.
        public var total: Duration?

        public init(connect: Duration = .seconds(30), idle: Duration? = .seconds(60), total: Duration? = nil) {
            self.connect = connect
            self.idle = idle
            self.total = total
        }
    }

    /// The minimum speed of a server. A slower transfer fails with `tooSlow`.
    ///
    /// It is checked ten times within `over`, from the accepted head on. Pauses on our side, by a rate limit or a full
    /// window, do not count.
    public struct MinimumSpeed: Sendable, Equatable {
        /// The rate of the body, averaged over `over`. Values below 1 set no minimum.
        public var bytesPerSecond: Int64
        /// The length of the window. Shorter values count as 100 ms.
        public var over: Duration

        public init(bytesPerSecond: Int64, over: Duration = .seconds(60)) {
            self.bytesPerSecond = bytesPerSecond
            self.over = over
        }
    }
}

/// Validation of a request before it is sent. libcurl writes the texts of a request without encoding, so a line break
/// in one of them would add a header or a request.
extension TransferRequest {
    func validate() throws(TransferError) {
        try validateURL()
        try validateMethod()
        for header in headers { try Self.validate(header) }
        if let userAgent, userAgent.breaksLine { throw .protocolError("the user agent contains a line break") }
        try validateRange()
        try credentials?.validate()
        try proxy?.validate()
        try tls.validate()
    }

    private func validateURL() throws(TransferError) {
        guard !url.breaksLine else { throw .badURL("the URL contains a line break") }
        let parsed = try ParsedURL(url)
        guard let scheme = parsed.scheme else { throw .badURL("the URL has no scheme") }
        guard ["http", "https"].contains(where: scheme.equalsIgnoringASCIICase) else { throw .unsupportedProtocol }
        // libcurl would convert the name by the locale of the process, and accept names that contain a slash afterwards.
        guard let host = parsed.host, host.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw .badURL("its host is not in ASCII (RFC 5891)")
        }
    }

    private func validateMethod() throws(TransferError) {
        guard method.isHTTPToken else { throw .protocolError("the method is not a token") }
        // Responses to both methods have their own framing, which libcurl applies only if it selected the method itself.
        guard method != "CONNECT" else { throw .protocolError("CONNECT is for proxies") }
        guard method != "HEAD" || (body == nil && bodyFile == nil) else {
            throw .protocolError("a HEAD request has no body")
        }
    }

    private static func validate(_ header: (name: String, value: String)) throws(TransferError) {
        guard header.name.isHTTPToken else { throw .protocolError("a header's name is not a token") }
        guard !header.value.breaksLine else { throw .protocolError("the header \(header.name) contains a line break") }
        // A wrong length would leave bytes on the connection, and the next request would begin with them.
        let framing = ["Content-Length", "Transfer-Encoding"]
        guard !framing.contains(where: header.name.equalsIgnoringASCIICase) else {
            throw .protocolError("\(header.name) follows from the body and cannot be given")
        }
    }

    private func validateRange() throws(TransferError) {
        guard let rangeStart else {
            guard rangeEnd == nil else { throw .protocolError("a range needs a start") }
            return
        }
        guard rangeStart >= 0, rangeEnd.map({ $0 >= rangeStart }) ?? true else {
            throw .protocolError("a range must not be negative")
        }
    }

    /// `CURLOPT_RANGE` for this request.
    var rangeOption: String? { rangeStart.map { start in "\(start)-" + (rangeEnd.map(String.init) ?? "") } }

    func hasHeader(_ name: String) -> Bool { headers.value(of: name) != nil }

    /// The body with its framing. Methods that usually have a body send `Content-Length: 0` for an empty one (RFC 9110, 8.6).
    var framedBody: [UInt8]? { body ?? (["POST", "PUT", "PATCH"].contains(method) ? [] : nil) }

    /// The headers of the caller, without those that `credentials` or the credentials of the proxy replace.
    var unsupersededHeaders: [(name: String, value: String)] {
        headers.filter { header in
            let isSuperseded =
                credentials != nil && header.name.equalsIgnoringASCIICase("Authorization")
                || proxy?.username != nil && header.name.equalsIgnoringASCIICase("Proxy-Authorization")
            return !isSuperseded
        }
    }
}

/// The rules for the destination of a request.
extension TransferRequest {
    /// Judges the destination before a name is looked up and before a connection is opened.
    ///
    /// A proxy connects to the destination itself, so no socket of this process has the address of the destination. An
    /// address in the URL is therefore judged here if the request uses a proxy. Names are resolved by the proxy, and only
    /// the rules for hosts apply to them.
    func checkDestination(by options: CurlClient.Options) throws(TransferError) {
        guard !admitsAnyAddress else { return }
        let parsed = try ParsedURL(url)
        guard let text = parsed.host, let port = parsed.port else { return }
        let host = RequestedHost(text)
        guard options.hosts().admits(host, port: port) else { throw .hostRefused(host: text, port: port) }
        guard proxy != nil else { return }
        switch host {
        case .address(let address):
            guard admits(address, by: options) else { throw .addressRefused(address) }
        case .name where host.isLoopbackName:
            let loopback = [IPAddress("127.0.0.1"), IPAddress("::1")]
            guard loopback.contains(where: { admits($0, by: options) }) else { throw .addressRefused(loopback[0]) }
        case .name: return
        }
    }

    /// Whether this request may connect to the address.
    ///
    /// - Parameter address: nil if the address could not be read. It is admitted only if no rule exists.
    func admits(_ address: IPAddress?, by options: CurlClient.Options) -> Bool {
        if admitsAnyAddress { return true }
        if let addressPolicy { return address.map(addressPolicy.admits) ?? false }
        guard let admitsAddress = options.admitsAddress else { return true }
        return address.map(admitsAddress) ?? false
    }
}

extension String {
    /// Whether the text is a `token` of RFC 9110. A method and a field name must be one.
    var isHTTPToken: Bool { !utf8.isEmpty && utf8.allSatisfy(\.isHTTPTokenCharacter) }

    /// Whether the text would end a line, or a C string.
    var breaksLine: Bool { utf8.contains { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") || $0 == 0 } }

    var hasControlCharacter: Bool { utf8.contains { $0 < 0x20 || $0 == 0x7F } }
}
