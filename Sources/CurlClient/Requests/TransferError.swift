/// The cause of a failed transfer, in cases that a caller can handle. The texts are for people.
public enum TransferError: Error, Sendable, Equatable {
    /// The text is not a URL, or the URL has no host.
    case badURL(String)
    /// A scheme other than `http` and `https`.
    case unsupportedProtocol
    case nameResolutionFailed
    /// Every address of the host or of the proxy refused the connection or did not answer, or the proxy could not
    /// connect to the host.
    case connectFailed(String)
    /// This machine has no route to the host. No request was sent.
    case networkUnreachable(String)
    /// `Options.admitsAddress` or the `addressPolicy` of the request refused every address of the host; nil if an address could not be read.
    case addressRefused(IPAddress?)
    /// `Options.admitsAddress` refused every address of the proxy.
    case proxyAddressRefused(IPAddress?)
    /// `Options.hosts` refused the host or the port of the URL.
    case hostRefused(host: String, port: Int)
    /// The text is from `TransferError+TLS.swift`. It distinguishes an expired certificate, a certificate for another
    /// host, an untrusted issuer and a key that is not pinned. Also thrown if the TLS options of the request are
    /// invalid.
    case tlsFailed(String)
    /// A SOCKS proxy, such as `socks5://host:1080`, requires credentials, or refused the given ones. An HTTP proxy responds
    /// with status 407 instead.
    case proxyAuthenticationRequired(proxy: String)
    /// The connection was reset, or closed before a response.
    case connectionLost(String)
    /// The body ended early. `expected` is nil if the body is chunked.
    case truncated(expected: Int64?, received: Int64)
    case timedOut(Deadline)
    /// The server was slower than `TransferRequest.minimumSpeed`.
    case tooSlow
    /// The head is larger than `Options.headBytes`, or one line is longer than the limit of libcurl.
    case headTooLarge
    /// The request is invalid, or the response is not valid HTTP.
    case protocolError(String)
    /// The process or the machine has no free file descriptor.
    case tooManyOpenFiles
    /// Thrown only by `exchange`, if its task was cancelled or its client was shut down.
    case cancelled
    /// Any other error: the code and the message of libcurl.
    case other(code: Int32, message: String)

    public enum Deadline: Sendable {
        /// The lookup of the name did not end within the connect timeout.
        case lookup
        case connect, idle, total
    }
}
